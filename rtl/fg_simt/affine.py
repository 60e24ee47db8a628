"""`AffineRegisters`: compact registers and uniform predicates of the current warp, and what is computed from them
(docs/contract/fg_simt.md, *Affine execution*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS, Source
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS
from warploom.arch.isa import PT
from warploom.arch.mechanisms import Affine
from warploom.rtl.fg_simt.affine_attempt import KNOWN, OPERANDS, PLAN, Attempt, plan_of
from warploom.rtl.fg_simt.followed import Followed
from warploom.rtl.fg_simt.micro import HOLDS
from warploom.rtl.interfaces import COMPACT, SLOTS
from warploom.rtl.observation import Shown, probe_port, show

NUMBER_BITS, PREDICATE_BITS = (REGISTERS - 1).bit_length(), PREDICATES.bit_length()

AHEAD = data.StructLayout({"op": 8, "modifiers": LANE_MODIFIER_BITS,
                           "registers": data.ArrayLayout(NUMBER_BITS, SLOTS + 1),
                           "predicates": data.ArrayLayout(PREDICATE_BITS, 3)})
"""What is used of an instruction a cycle before it comes: operation and modifiers; registers of the slots and of the
destination; guard, predicate operand and predicate result. A register that is not read or written does not count."""

REGISTER = data.StructLayout({"word": COMPACT, "affine": 1})
"""A compact register, and whether its stride is not 0, which is known earlier."""

OLD = data.StructLayout({"compact": 1, "word": COMPACT, "uniform": 1, "holds": 1})
"""The destinations of an instruction before it: whether the register is compact, and its value; whether the predicate
is uniform, and whether it holds. Values are unspecified if they are not."""

LOADED = data.StructLayout({"valid": 1, "word": 32})
"""The word of a uniform load."""


class AffineRegisters(wiring.Component):
    """The ASRF, the tags of predicates, and the affine unit. All outputs but `known` come in the cycle of their inputs;
    what `write`, `expand` and `reset` do is seen from the next cycle on. The operation, and the numbers of registers
    and predicates, come a cycle before the rest of their instruction.

    Parameters
    ----------
    affine : which operations are eligible; not OFF.
    probe : for benches: shows the observed values.

    Members
    -------
    ahead, advance : of the next instruction; `advance` in the last cycle before it comes.
    operands, guard, pred : of an instruction, as they are in a micro-operation without affine execution.
    writes, dst, pdst : whether it writes a register, and which; the predicate, 7 for none.
    loaded : its result, if it is a uniform load.
    uniform : operands that are constants, or compact registers, with the stride 0.
    values : its operands, compact registers as constants.
    resolved, resolved_guard, resolved_pred : the same, uniform predicates as constants too, which is known later.
    late, known : its results, valid if it executes here: computed or loaded. If `late`, in the fourth cycle, or with an
        operand that is not uniform the fifth, in which the instruction and what it reads are the same, otherwise at
        once. Unspecified are the word of an instruction without a register result, and the predicate of one without
        `pdst`.
    old : its destinations before it. A register or predicate that it does not write is not compact or uniform.
    write : the destinations get what is known, and become generic if nothing is; only with `advance`.
    expand : the destinations become generic; not together with `write`.
    reset : everything becomes generic, whatever else is written.

    Raises
    ------
    ValueError : for OFF.
    """

    def __init__(self, *, affine: Affine, probe: bool = False) -> None:
        if not affine.is_on:
            raise ValueError("affine = off has no affine registers")
        self._kind, self._probe = affine, probe
        self._compact, self._affine = Signal(REGISTERS), Signal(REGISTERS)
        self._uniform, self._values = Signal(PREDICATES), Signal(PREDICATES)
        self._strides = Signal()  # what is known has a stride
        super().__init__({
            "ahead": In(AHEAD), "advance": In(1),
            "operands": In(OPERANDS), "guard": In(HOLDS), "pred": In(HOLDS),
            "writes": In(1), "dst": In(NUMBER_BITS), "pdst": In(3), "loaded": In(LOADED),
            "uniform": Out(SLOTS), "values": Out(OPERANDS), "resolved": Out(OPERANDS),
            "resolved_guard": Out(HOLDS), "resolved_pred": Out(HOLDS),
            "late": Out(1), "known": Out(KNOWN), "old": Out(OLD), "write": In(1), "expand": In(1), "reset": In(1),
            **(probe_port(self.observe()) if probe else {}),
        })
        self.attempt = Attempt()
        self.registers = Followed(NUMBER_BITS, REGISTER, SLOTS + 1)
        self.predicates = Followed(PREDICATE_BITS, 1, 3)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.attempt = self.attempt
        m.submodules.registers, m.submodules.predicates = self.registers, self.predicates
        m.submodules.words = words = Memory(shape=COMPACT, depth=REGISTERS, init=())
        self._look_ahead(m, words)
        for slot in range(SLOTS):
            operand, register = self.operands[slot], self.registers.held[slot]
            m.d.comb += self.uniform[slot].eq(Mux(operand.source == Source.CONSTANT, ~operand.stride.any(),
                                                  (operand.source == Source.REGISTER) & register.known
                                                  & ~register.value.affine))
            self._resolve(m, operand, register, self.values[slot], self.resolved[slot])
        for copy, given, resolved in ((0, self.guard, self.resolved_guard), (1, self.pred, self.resolved_pred)):
            m.d.comb += resolved.eq(Cat(*_resolved(given.number, given.inverted, self.predicates.held[copy])))
        self._know(m)
        self._show_old(m)
        self._tag(m)
        if self._probe:
            show(m, self)
        return m

    def _look_ahead(self, m: Module, words: Memory) -> None:
        """What the next instruction names, and what is written."""
        known, changes, valid = self.known, self.write | self.expand, self.write & self.known.valid
        m.d.comb += self._strides.eq(known.word.stride.any())
        last = self._write_late(m, words)
        for number, found in zip(self.ahead.registers, self.registers.found, strict=True):
            reader, is_last = words.read_port(domain="comb"), last.valid & (number == last.number)
            m.d.comb += [reader.addr.eq(number),
                         found.value.word.eq(Mux(is_last, last.word.as_value(), reader.data.as_value())),
                         found.value.affine.eq(self._affine.bit_select(number, 1)),
                         found.known.eq(self._compact.bit_select(number, 1))]
        for number, found in zip(self.ahead.predicates, self.predicates.found, strict=True):
            m.d.comb += found.eq(Cat(self._tags_of(number)))
        for followed, ahead, writes, number, value in (
            (self.registers, self.ahead.registers, self.writes, self.dst, Cat(known.word, self._strides)),
            (self.predicates, self.ahead.predicates, self.pdst != PT, self.pdst, known.holds),
        ):
            written = followed.written
            m.d.comb += [
                followed.ahead.eq(ahead), followed.advance.eq(self.advance), followed.reset.eq(self.reset),
                written.valid.eq(changes & writes), written.number.eq(number),
                written.entry.known.eq(valid), written.entry.value.eq(value),
            ]

    def _write_late(self, m: Module, words: Memory) -> data.View:
        """A word is written in the cycle behind: it is known late, and goes to all entries. Returns the last one."""
        written = Signal(data.StructLayout({"valid": 1, "number": NUMBER_BITS, "word": COMPACT}), name="written_late")
        writer = words.write_port()
        m.d.sync += [written.valid.eq(self.write & self.writes), written.number.eq(self.dst),
                     written.word.eq(self.known.word)]
        m.d.comb += [writer.addr.eq(written.number), writer.en.eq(written.valid), writer.data.eq(written.word)]
        return written

    def _tags_of(self, number: Value) -> tuple[Value, Value]:
        """Whether a predicate is uniform, and whether it holds; number 7 has no tag."""
        uniform, holds = (Cat(tags, Const(0, 1)).bit_select(number, 1) for tags in (self._uniform, self._values))
        return uniform, holds

    def _resolve(
        self, m: Module, operand: data.View, source: data.View, value: data.View, resolved: data.View
    ) -> None:
        """An operand, with a compact register as a constant, then with a uniform predicate, too."""
        m.d.comb += [value.eq(operand), resolved.eq(value)]
        with m.If((operand.source == Source.REGISTER) & source.known):
            m.d.comb += [value.source.eq(Source.CONSTANT), value.base.eq(source.value.word.base),
                         value.stride.eq(source.value.word.stride)]
        with m.If(operand.source == Source.PREDICATE):
            number, uniform = operand.base[:PREDICATE_BITS], Signal(self.predicates.held[0].shape())
            predicate, inverted = _resolved(number, operand.stride[0], uniform)
            m.d.comb += [uniform.eq(Cat(self._tags_of(number))), resolved.base.eq(predicate),
                         resolved.stride.eq(inverted)]

    def _know(self, m: Module) -> None:
        """A loaded word, or what the affine unit computes."""
        attempt, plan = self.attempt, Signal(PLAN, reset_less=True)
        with m.If(self.advance):
            m.d.sync += plan.eq(plan_of(m, self._kind, self.ahead.op, self.ahead.modifiers))
        m.d.comb += [
            attempt.plan.eq(plan), attempt.operands.eq(self.values), attempt.resolved.eq(self.resolved),
            attempt.uniform.eq(self.uniform.all()),
            attempt.pred.eq(self.resolved_pred), attempt.predicate.eq(self.pdst != PT),
            self.late.eq(attempt.late), self.known.eq(attempt.known),
        ]
        with m.If(self.loaded.valid):
            m.d.comb += [self.known.valid.eq(1), self.known.word.base.eq(self.loaded.word),
                         self.known.word.stride.eq(0)]

    def _show_old(self, m: Module) -> None:
        register, predicate = self.registers.held[SLOTS], self.predicates.held[2]
        m.d.comb += [
            self.old.compact.eq(self.writes & register.known), self.old.word.eq(register.value.word),
            self.old.uniform.eq(predicate.known), self.old.holds.eq(predicate.value),
        ]

    def _tag(self, m: Module) -> None:
        """Tags at the end of the cycle."""
        known, valid = self.known, self.write & self.known.valid
        with m.If(self.write | self.expand):
            with m.If(self.writes):
                m.d.sync += [self._compact.bit_select(self.dst, 1).eq(valid),
                             self._affine.bit_select(self.dst, 1).eq(valid & self._strides)]
            with m.If(self.pdst != PT):
                m.d.sync += [self._uniform.bit_select(self.pdst, 1).eq(valid),
                             self._values.bit_select(self.pdst, 1).eq(valid & known.holds)]
        with m.If(self.reset):
            m.d.sync += [tags.eq(0) for tags in (self._compact, self._affine, self._uniform, self._values)]

    def observe(self) -> Shown:
        """See the contract."""
        return {"uniform_registers": self._compact & ~self._affine, "affine_registers": self._affine + 0,
                "uniform_predicates": self._uniform + 0, "predicate_values": self._values + 0}


def _resolved(number: Value, inverted: Value, uniform: data.View) -> tuple[Value, Value]:
    """A predicate, as a constant if it is uniform."""
    return (number | uniform.known.replicate(PREDICATE_BITS),
            Mux(uniform.known, uniform.value == inverted, inverted))
