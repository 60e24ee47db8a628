# amaranth: UnusedElaboratable=no
"""The lanes: register file, arithmetic units, SGU, SSU and SLU (docs/contract/fg_simt.md, *Lanes in hardware*;
[AFFINE], section 4)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import Source
from warploom.arch.fg_simt.sizes import EIGHT_LANES, THREADS, Sizes
from warploom.rtl.fg_simt.access import AccessUnit
from warploom.rtl.fg_simt.constants import Constants
from warploom.rtl.fg_simt.control_ports import LAUNCH_BLOCK
from warploom.rtl.fg_simt.issue_ports import SAUS, SOURCES, access, operation, reading, write_back
from warploom.rtl.fg_simt.memory_ports import arriving, place_bits, words
from warploom.rtl.fg_simt.micro import PAYLOAD
from warploom.rtl.fg_simt.predicate_masks import PredicateMasks
from warploom.rtl.fg_simt.sau import FirstSau, SecondSau
from warploom.rtl.fg_simt.sau_ports import EXTENSION, result
from warploom.rtl.fg_simt.slu import LoadUnit
from warploom.rtl.fg_simt.srf import SimtRegisterFile
from warploom.rtl.fg_simt.threads import POINT, POSITION
from warploom.rtl.shared import is_fpga, module_name, share

AXES = ("x", "y", "z")


class Lanes(wiring.Component):
    """What the issue unit starts is executed here. A group reads its operands in the cycle in which it is at `sau`,
    `sgu` or `slu`. Rows, `holds` and results are functions of registers.

    Parameters
    ----------
    sizes : how many there are.
    probe : for benches: a port `written` with the results of SAU0, SAU1 and SLU that are written in this cycle, and the
        rules of SRF and SAUs are asserted.

    Members
    -------
    block : the launch block; it does not change during a kernel.
    position : where a thread of the warp is; stays until the next one for this thread.
    sau, sgu, slu : the group that reads in each unit.
    holds : for each SAU, of the group that executes, the executing lanes; of a collect they are those of the mask.
    discard : address generation stops: no row arrives in the next cycle.
    arrive, arriving : a row for the memory unit.
    place, words : a place of the SLDQs, and what is there, in the same cycle.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES, probe: bool = False) -> None:
        self._sizes, self._probe = sizes, probe
        self._saus = (FirstSau(sizes=sizes, probe=probe), SecondSau(sizes=sizes, probe=probe))
        self._slu, self._access = LoadUnit(sizes=sizes), AccessUnit(sizes=sizes)
        self._registers, self._predicates = SimtRegisterFile(sizes=sizes, probe=probe), PredicateMasks(sizes=sizes)
        super().__init__({
            "block": In(LAUNCH_BLOCK), "position": In(POSITION),
            "sau": In(reading(operation(PAYLOAD), sizes)).array(SAUS), "sgu": In(reading(access(PAYLOAD), sizes)),
            "slu": In(reading(write_back(EXTENSION), sizes)),
            "holds": Out(data.ArrayLayout(sizes.lanes, SAUS)), "discard": In(1),
            "arrive": Out(1), "arriving": Out(arriving(sizes)), "place": Out(place_bits(sizes)),
            "words": In(words(sizes)),
            **({"written": Out(data.ArrayLayout(result(sizes), SAUS + 1))} if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for part in (*self._saus, self._slu, self._access, self._registers, self._predicates):
            name = module_name(type(part).__name__)
            m.submodules[name] = share(platform, name, part)
        points = self._points_in_memory(m) if is_fpga(platform) else self._points(m)
        for number in range(SAUS):
            self._compute(m, platform, number, points)
        self._generate(m, platform)
        self._load(m)
        self._write(m)
        return m

    def _points(self, m: Module) -> data.View:
        """Where each thread is."""
        points = Signal(data.ArrayLayout(POINT, THREADS), reset_less=True)
        with m.If(self.position.valid):
            m.d.sync += points[self.position.thread].eq(self.position.point)
        return points

    def _points_in_memory(self, m: Module) -> Memory:
        """Where each thread is, in a memory."""
        m.submodules.points = points = Memory(shape=POINT, depth=THREADS, init=())
        writer, given = points.write_port(), self.position
        m.d.comb += [writer.addr.eq(given.thread), writer.data.eq(given.point), writer.en.eq(given.valid)]
        return points

    def _compute(self, m: Module, platform: object, number: int, points: data.View | Memory) -> None:
        """A group enters an SAU."""
        now, sau, held = self.sau[number], self._saus[number], self._predicates.held[number]
        payload, entering = now.operation.payload, sau.enter.payload
        constants = self._constants(m, platform, f"sau{number}", payload.operands, now.group)
        self._read(m, number, now.valid, now.group, now.operation.sources)
        for slot in range(SOURCES):
            operand, given = payload.operands[slot], entering["abc"[slot]]
            with m.Switch(operand.source):
                with m.Case(Source.REGISTER.value):
                    m.d.comb += given.eq(self._registers.words[number][slot])
                with m.Case(Source.PREDICATE.value):
                    lanes = held[operand.base[:3]] ^ operand.stride[0].replicate(self._sizes.lanes)
                    m.d.comb += [word.eq(lanes[lane]) for lane, word in enumerate(given)]
                with m.Case(Source.CONSTANT.value):
                    m.d.comb += given.eq(constants[slot])
                if slot == 0:
                    with m.Case(Source.POSITION.value):
                        m.d.comb += [word.eq(self._coordinate(m, points, lane, now.group, operand.base))
                                     for lane, word in enumerate(given)]
        m.d.comb += [
            self._predicates.groups[number].eq(now.group), sau.enter.valid.eq(now.valid),
            *(entering[name].eq(payload[name]) for name in ("op", "modifiers")),
            entering.pred.eq(_held(held, payload.pred)),
            entering.execute.eq(_executing(now.operation, held, now.group)), entering.group.eq(now.group),
            entering.destination.eq(now.operation.destination), entering.predicate.eq(now.operation.predicate),
            self.holds[number].eq(sau.holds),
        ]

    def _generate(self, m: Module, platform: object) -> None:
        """A group enters SGU and SSU."""
        now, unit, held = self.sgu, self._access, self._predicates.held[SAUS]
        given = now.operation.operation
        operands = given.payload.operands
        constants = self._constants(m, platform, "sgu", operands, now.group)
        self._read(m, SAUS, now.valid, now.group, given.sources)
        for slot, read in enumerate((unit.low, unit.high, unit.data)):
            m.d.comb += read.eq(Mux(given.sources[slot].valid, self._registers.words[SAUS][slot], constants[slot]))
        wiring.connect(m, wiring.flipped(self.sgu), unit.sgu)
        m.d.comb += [
            self._predicates.groups[SAUS].eq(now.group), unit.block.eq(self.block), unit.discard.eq(self.discard),
            unit.executing.eq(_executing(given, held, now.group)),
            self.arrive.eq(unit.arrive), self.arriving.eq(unit.arriving),
        ]

    def _load(self, m: Module) -> None:
        """A group enters the SLU."""
        slu = self._slu
        wiring.connect(m, wiring.flipped(self.slu), slu.read)
        m.d.comb += [slu.arrive.eq(self.arrive), slu.arriving.eq(self.arriving), self.place.eq(slu.place),
                     slu.words.eq(self.words)]

    def _write(self, m: Module) -> None:
        """Results are written, and forwarded."""
        units = (*self._saus, self._slu)
        for number, unit in enumerate(units):
            m.d.comb += self._registers.writes[number].eq(unit.write)
            if number < SAUS:
                m.d.comb += self._predicates.writes[number].eq(unit.write)
            if self._probe:
                m.d.comb += self.written[number].eq(unit.write)

    def _read(self, m: Module, reader: int, valid: Value, group: Value, sources: data.View) -> None:
        read = self._registers.reads[reader]
        m.d.comb += [read.valid.eq(valid), read.group.eq(group),
                     *(number.eq(source.number) for number, source in zip(read.numbers, sources, strict=True))]

    def _constants(self, m: Module, platform: object, unit: str, operands: data.View, group: Value) -> list[Value]:
        """The constant operands of a unit."""
        made = [Constants(sizes=self._sizes) for _ in range(SOURCES)]
        for slot, (constants, operand) in enumerate(zip(made, operands, strict=True)):
            m.submodules[f"{unit}_constants_{slot}"] = share(platform, "constants", constants, clocked=False)
            m.d.comb += [constants.base.eq(operand.base), constants.stride.eq(operand.stride),
                         constants.group.eq(group)]
        return [constants.words for constants in made]

    def _coordinate(self, m: Module, points: data.View | Memory, lane: int, group: Value, axis: Value) -> Value:
        """A coordinate of the thread of a group in a lane."""
        if isinstance(points, Memory):
            reader = points.read_port(domain="comb")
            m.d.comb += reader.addr.eq(Cat(Const(lane, self._sizes.lane_bits), group))
            of_lane = [reader.data[name] for name in AXES]
        else:
            threads = range(lane, THREADS, self._sizes.lanes)
            of_lane = [Cat(points[thread][name] for thread in threads).word_select(group, 32) for name in AXES]
        return Mux(axis[1], of_lane[2], Mux(axis[0], of_lane[1], of_lane[0]))


def _held(held: data.View, which: data.View) -> Value:
    """The lanes in which a predicate holds."""
    return held[which.number] ^ which.inverted.replicate(held.shape().elem_shape)


def _executing(given: data.View, held: data.View, group: Value) -> Value:
    """The lanes of mask and guard."""
    return given.mask.word_select(group, held.shape().elem_shape) & _held(held, given.payload.guard)
