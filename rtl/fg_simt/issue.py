# amaranth: UnusedElaboratable=no
"""The issue unit of the FG-SIMT engine (docs/contract/fg_simt.md, *Issue unit*; [AFFINE], section 4)."""

from amaranth import Cat, Const, Module, Mux, ResetInserter, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import (
    EIGHT_LANES,
    PREDICATES,
    SIQ_ENTRIES,
    SLWQ_ENTRIES,
    STORED_AFTER,
    THREADS,
    Sizes,
)
from warploom.arch.isa import PC_BITS
from warploom.rtl.fg_simt.branch_mask import BranchMask
from warploom.rtl.fg_simt.first_queue import FirstQueue
from warploom.rtl.fg_simt.groups import DividingGroups, Groups
from warploom.rtl.fg_simt.issue_ports import LONGEST, PLACE, SAUS, access, micro, operation, reading, write_back
from warploom.rtl.fg_simt.memory_ports import ISSUED
from warploom.rtl.fg_simt.scoreboard import Scoreboard
from warploom.rtl.fg_simt.write_port import StorageClaims, WritePort
from warploom.rtl.observation import Shown, probe_port, show


class IssueUnit(wiring.Component):
    """SIQ, scoreboard, SLWQ and branch resolution mask: at most one issue in a cycle, in order.

    What issues in t is in the register of its unit from t + 1 on, when its first group reads. All outputs are functions
    of registers but `accesses`.

    Parameters
    ----------
    payload : the shape of what lanes and SMU need of an operation, beside registers, mask and PC.
    extension : the shape of a load's `extension` (`warploom.rtl.fg_simt.issue_ports.micro`).
    sizes : lanes of the engine.
    probe : a port with the observed values of the previous cycle.

    Members
    -------
    push : what the CP sends (`micro`). After a collect it sends nothing until the mask is complete, after a discard
        nothing until `quiet`.
    discard : the kernel stops: at the end of the cycle what has not issued and what loads have left to do is forgotten,
        and the SGU stops.
    freed : a row leaves the SMRQ at the end of the cycle.
    answered : for each entry of the SLWQ, all answers of its load are in the SLDQs. Only looked at while it is the
        first and the SLU is free: so the SMU may clear it in the cycle in which the first group is read.
    holds : for each SAU, of the group that executes, the executing lanes in which the predicate of a collect holds.
    sau, sgu, slu : the group that reads in each unit.
    accesses, accessed : an access issues in this cycle; what it is.
    mask, resolved : the branch resolution mask, in the cycle in which it is complete.
    quiet : queues are empty, and all results are written. Accesses are not counted: they are in flight.
    """

    def __init__(self, *, payload: ShapeLike, extension: ShapeLike, sizes: Sizes = EIGHT_LANES,
                 probe: bool = False) -> None:
        self._micro, self._sizes, self._probe = micro(payload, extension), sizes, probe
        self._sgu = Groups(layout=access(payload), sizes=sizes)
        self._slu = Groups(layout=write_back(extension), sizes=sizes)
        self._saus = (Groups(layout=operation(payload), sizes=sizes),
                      DividingGroups(layout=operation(payload), sizes=sizes))
        self._scoreboard, self._mask = Scoreboard(), BranchMask(sizes=sizes)
        self._ports, self._srf = [WritePort(sizes=sizes) for _ in range(SAUS)], StorageClaims()
        self._siq = FirstQueue(shape=self._micro, depth=SIQ_ENTRIES)
        self._waiting = data.StructLayout({**({"pc": PC_BITS} if probe else {}), "write_back": write_back(extension)})
        self._slwq = SyncFIFO(width=self._waiting.size, depth=SLWQ_ENTRIES)
        self._signals()
        super().__init__({
            "push": In(stream.Signature(self._micro)),
            "discard": In(1),
            "freed": In(1),
            "answered": In(SLWQ_ENTRIES),
            "holds": In(data.ArrayLayout(sizes.lanes, SAUS)),
            "sau": Out(reading(operation(payload), sizes)).array(SAUS),
            "sgu": Out(reading(access(payload), sizes)),
            "slu": Out(reading(write_back(extension), sizes)),
            "accesses": Out(1), "accessed": Out(ISSUED),
            "mask": Out(THREADS),
            "resolved": Out(1),
            "quiet": Out(1),
            **(probe_port(self.observe()) if probe else {}),
        })

    def _signals(self) -> None:
        """What several methods use: the first operation of each queue, and whether it issues."""
        self._first, self._load = Signal(self._micro, name="first"), Signal(self._waiting, name="first_load")
        self._issues, self._writes_back = Signal(name="issues"), Signal(name="writes_back")
        self._starts = Signal(SAUS, name="starts")
        self._accesses = Signal(name="access_issues")
        self._rows = Signal(range(self._sizes.rows + 1), init=self._sizes.rows, name="free_rows")
        self._overwrites = Signal(name="overwrites")
        self._outruns = Signal(name="outruns")  # a vector load would store words where the SLU still reads others
        self._last = Signal(data.StructLayout({"issue": 2, "issue_pc": PC_BITS, "issue_unit": 2}), name="last_issue")

    def observe(self) -> Shown:
        """The values of the contract."""
        last = {name: getattr(self._last, name) for name in ("issue", "issue_pc", "issue_unit")}
        claimed = {f"claimed{sau}": port.claimed for sau, port in enumerate(self._ports)}
        return {"siq": self._siq.level, "slwq": self._slwq.level, **last, **claimed, "claimed_srf": self._srf.claimed}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.siq = ResetInserter(self.discard)(self._siq)
        m.submodules.slwq = ResetInserter(self.discard)(self._slwq)
        m.submodules.sgu_groups = ResetInserter(self.discard)(self._sgu)
        m.submodules.slu_groups, m.submodules.branch_mask = self._slu, self._mask
        m.submodules.scoreboard, m.submodules.srf_claims = self._scoreboard, self._srf
        for number, (sau, port) in enumerate(zip(self._saus, self._ports, strict=True)):
            m.submodules[f"sau{number}_groups"], m.submodules[f"write_port{number}"] = sau, port
        self._queues(m)
        self._choose(m)
        self._start(m)
        self._pend(m)
        self._keep(m)
        self._resolve(m)
        self._drain(m)
        if self._probe:
            self._show(m)
        return m

    def _queues(self, m: Module) -> None:
        wiring.connect(m, wiring.flipped(self.push), self._siq.enter)
        m.d.comb += [
            self._first.eq(self._siq.first.payload), self._siq.first.ready.eq(self._issues),
            self._load.eq(self._slwq.r_data), self._slwq.r_en.eq(self._writes_back),
        ]

    def _choose(self, m: Module) -> None:
        """What issues: a write-back, or else the first operation of the SIQ if nothing is in its way."""
        first, (sau0, sau1), ports = self._first, self._saus, self._ports
        fits, room, may = Signal(SAUS), Signal(), Signal()
        m.d.comb += [
            self._writes_back.eq(self._slwq.r_rdy & self._slu.free
                                 & self._srf.free_for_load & self.answered.bit_select(self._load.write_back.place, 1)),
            may.eq(self._siq.first.valid & ~self._scoreboard.hazard & ~self._overwrites & ~self._writes_back
                   & ~sau1.turn),
            fits.eq(first.saus & Cat(sau0.free & ports[0].free & self._srf.free,
                                     sau1.free & (ports[1].free & self._srf.free | first.divide))),
            self._starts.eq(Cat(fits[0], fits[1] & ~fits[0]) & may.replicate(SAUS)),
            room.eq(Mux(first.vector, self._rows.any(), self._rows >= self._sizes.groups)),
            self._accesses.eq(may & ~first.saus.any() & self._sgu.free & room & (self._slwq.w_rdy | ~first.load)
                              & ~self._outruns),
            self._issues.eq(self._starts.any() | self._accesses),
        ]

    def _start(self, m: Module) -> None:
        """Into the unit, and for loads into the SLWQ."""
        first, taken, place = self._first, Signal(range(self._sizes.groups + 1)), Signal(PLACE)
        for number, (sau, port) in enumerate(zip(self._saus, self._ports, strict=True)):
            m.d.comb += [sau.start.valid.eq(self._starts[number]), sau.start.payload.eq(first.operation),
                         port.latency.eq(first.latency), port.claim.eq(self._starts[number] & ~first.divide)]
            wiring.connect(m, sau.reading, wiring.flipped(self.sau[number]))
        sent, divided = self._sgu.start.payload, self._saus[1]
        m.d.comb += [
            self._srf.latency.eq(first.latency), self._srf.claim.eq(self._starts.any() & ~first.divide),
            self._srf.claim_for_load.eq(self._writes_back), self._srf.divides.eq(divided.claims),
            divided.divide.eq(first.divide),
            self._sgu.start.valid.eq(self._accesses), self._sgu.single.eq(first.vector),
            sent.operation.eq(first.operation), sent.load.eq(first.load), sent.vector.eq(first.vector),
            sent.place.eq(place),
            self._outruns.eq(self._still_reads(place) & first.vector),
            self._slwq.w_en.eq(self._accesses & first.load),
            self._slwq.w_data.eq(Cat(*([first.operation.pc] if self._probe else []), first.operation.destination,
                                     place, first.extension)),
            self._slu.start.valid.eq(self._writes_back), self._slu.start.payload.eq(self._load.write_back),
            self.accesses.eq(self._accesses), self.accessed.loads.eq(first.load),
            self.accessed.vector.eq(first.vector), self.accessed.entry.eq(place),
            taken.eq(Mux(self._accesses, Mux(first.vector, 1, self._sizes.groups), 0)),
        ]
        m.d.sync += [place.eq(place + self._slwq.w_en),
                     self._rows.eq(Mux(self.discard, self._sizes.rows, self._rows - taken + self.freed))]
        wiring.connect(m, self._sgu.reading, wiring.flipped(self.sgu))
        wiring.connect(m, self._slu.reading, wiring.flipped(self.slu))

    def _still_reads(self, place: Value) -> Value:
        """Whether the SLU has so many groups left to read of an entry that words may come before."""
        now, early = self._slu.reading, self._sizes.groups - STORED_AFTER
        if early <= 0:
            return Const(0, 1)
        return now.valid & (now.operation.place == place) & (now.group < early)

    def _pend(self, m: Module) -> None:
        """The scoreboard."""
        first, board, divided = self._first, self._scoreboard, self._saus[1]
        m.d.comb += [
            *(getattr(board, name).eq(getattr(first.operation, name))
              for name in ("sources", "destination", "predicate")),
            board.predicates.eq(first.predicates), board.latency.eq(first.latency),
            board.issues.eq(self._issues), board.unknown.eq(first.load | first.divide), board.discard.eq(self.discard),
            board.known.eq(divided.reading.operation.destination),
            board.known.valid.eq(divided.known & divided.reading.operation.destination.valid),
            board.written.eq(self._load.write_back.destination),
            board.written.valid.eq(self._writes_back & self._load.write_back.destination.valid),
        ]

    def _keep(self, m: Module) -> None:
        """Whether the first operation writes what a division is still to read."""
        first, divided, guard = self._first, self._saus[1], Signal(PREDICATES)
        with m.If(divided.start.valid):
            m.d.sync += guard.eq(first.predicates)
        destination, predicate = first.operation.destination, first.operation.predicate
        registers = [source.valid & destination.valid & (source.number == destination.number)
                     for source in divided.reading.operation.sources]
        m.d.comb += self._overwrites.eq(
            divided.unread & (Cat(registers).any() | predicate.valid & guard.bit_select(predicate.number, 1)))

    def _resolve(self, m: Module) -> None:
        """The branch resolution mask."""
        mask = self._mask
        m.d.comb += [
            mask.collects.eq(self._starts.any() & self._first.collect), mask.second.eq(self._starts[1]),
            mask.holds.eq(self.holds), mask.discard.eq(self.discard),
            self.mask.eq(mask.mask), self.resolved.eq(mask.complete),
        ]

    def _drain(self, m: Module) -> None:
        """Whether something is in the lanes: a shift register with a bit for each cycle."""
        first, divided = self._first, self._saus[1]
        longest = self._drain_cycles(LONGEST)
        busy, added = Signal(longest), Signal(longest)
        ones = self._ones
        with m.If(self._starts.any() & ~first.divide):
            m.d.comb += added.eq(Mux(first.latency[2], ones(5), Mux(first.latency[1], ones(3),
                                                                    Mux(first.collect, ones(0), ones(1)))))
        with m.Elif(divided.known | self._writes_back):
            m.d.comb += added.eq(ones(0))
        m.d.sync += busy.eq(busy[1:] | added)
        m.d.comb += self.quiet.eq(~(self._siq.first.valid | self._slwq.r_rdy | divided.dividing | busy[0]))

    def _drain_cycles(self, latency: int) -> int:
        """Cycles after that of issue in which something of this latency is in the lanes; `quiet` comes behind them. A
        collect has those of a load."""
        return latency + 1 + self._sizes.groups

    def _ones(self, latency: int) -> Value:
        """These cycles, from the next one on."""
        return Const((1 << self._drain_cycles(latency)) - 1, self._drain_cycles(LONGEST))

    def _show(self, m: Module) -> None:
        """Observed values: what issues is known one cycle later, like the rest."""
        issued = Mux(self._writes_back, self._load.pc, self._first.operation.pc)
        unit = Mux(self._writes_back, 3, Mux(self._accesses, 2, self._starts[1]))
        happens = self._issues | self._writes_back
        m.d.sync += [self._last.issue.eq(Mux(self._writes_back, 2, self._issues)),
                     self._last.issue_pc.eq(Mux(happens, issued, 0)), self._last.issue_unit.eq(Mux(happens, unit, 0))]
        show(m, self)
