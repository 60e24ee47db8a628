# amaranth: UnusedElaboratable=no
"""Affine execution in the control processor (docs/contract/fg_simt.md, *Affine execution*; [AFFINE], section 3.2)."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import AFFINE_CYCLES, UNIFORM_CYCLES
from warploom.arch.isa import PT, Op
from warploom.arch.mechanisms import Affine
from warploom.rtl.fg_simt.access import WINDOW_FIELDS
from warploom.rtl.fg_simt.address import NAMES
from warploom.rtl.fg_simt.affine import AHEAD, AffineRegisters
from warploom.rtl.fg_simt.control_ports import LAUNCH_BLOCK
from warploom.rtl.fg_simt.load_rules import LOAD, LoadRules, load_of
from warploom.rtl.fg_simt.micro import HOLDS, ISSUED, MICRO, MicroDecoder, collect
from warploom.rtl.fg_simt.shared_loads import NUMBER_BITS
from warploom.rtl.observation import Shown, gather, probe_port, show


class AffineExecution(wiring.Component):
    """What an instruction with data does: is executed here, or goes to the lanes. All outputs come in the cycle of
    their inputs, which stay the same from a cycle with `act` to the next one, but for `advance`, `hit` and `word`.

    Parameters
    ----------
    affine : the kind; not OFF.
    probe : for benches: shows the observed values.

    Members
    -------
    reset : a warp begins at the end of the cycle.
    micro : the instruction as it would go to the lanes without affine execution, but for its guard.
    guard, resolved : its guard; the same, as a constant if it is uniform.
    whole : no lanes wait.
    block : the launch block.
    ahead, advance : of the next instruction; `advance` in the last cycle before it comes.
    number, hit, word : the number of the word of a uniform load, whether it is in the shared-load cache, and the word,
        from the third cycle on.
    act, room : it is to be executed now; the SIQ has room.
    collects : it sends a `collect` of its guard instead, if there is room.
    misses : it needs the word of a uniform load, and begins again when that is in the cache.
    sends, sent : it sends this operation, decoded, if there is room.
    ends : if there is room, it is over, whether it sends anything or not. Otherwise `act` follows in the next cycle, or
        a fault.

    Raises
    ------
    ValueError : for OFF.
    """

    def __init__(self, *, affine: Affine, probe: bool = False) -> None:
        self._affine, self._probe = affine, probe
        self._registers = AffineRegisters(affine=affine, probe=probe)
        self._expands, self._waits = Signal(), Signal()  # destinations are expanded; a result is not yet there
        super().__init__({
            "reset": In(1), "micro": In(MICRO), "guard": In(HOLDS), "resolved": Out(HOLDS),
            "whole": In(1), "block": In(LAUNCH_BLOCK),
            "ahead": In(AHEAD), "advance": In(1), "number": Out(NUMBER_BITS), "hit": In(1), "word": In(32),
            "act": In(1), "collects": In(1), "room": In(1), "misses": Out(1),
            "sends": Out(1), "sent": Out(ISSUED), "ends": Out(1),
            **(probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.registers = registers = self._registers
        m.submodules.rules = rules = LoadRules()
        known, old, cycle = registers.known, registers.old, Signal(range(AFFINE_CYCLES))
        unguarded, is_compact, full, done = (Signal(name=name) for name in ("unguarded", "is_compact", "full", "done"))
        expands, waits, is_last = self._expands, self._waits, Signal()
        self._connect(m, rules)
        m.d.comb += [
            unguarded.eq(self.resolved.number == PT), is_compact.eq(old.compact | old.uniform),
            full.eq(self.whole & unguarded), expands.eq(is_compact & ~full),
            is_last.eq(cycle == Mux(rules.late | registers.uniform.all(), UNIFORM_CYCLES - 1, AFFINE_CYCLES - 1)),
            waits.eq((registers.late | rules.late) & ~is_last),
            done.eq(~waits & ~(rules.misses & is_last)), self.misses.eq(rules.misses & is_last & ~expands),
            self.ends.eq((done & ~is_compact) | (done & unguarded & self.whole)),  # `whole` is late
            self.sends.eq(expands | (self.ends & ~(known.valid & full))),
            registers.write.eq(self.act & done & self.room & known.valid & full),
            registers.expand.eq(self.act & self.sends & self.room),
        ]
        with m.If(self.act & ~expands & waits):
            m.d.sync += cycle.eq(cycle + 1)
        with m.Elif(~(self.act & (self.misses | ~self.room))):
            m.d.sync += cycle.eq(0)
        self._send(m, rules)
        if self._probe:
            show(m, self)
        return m

    def _connect(self, m: Module, rules: LoadRules) -> None:
        """The instruction, for the parts."""
        i, registers, load = self.micro, self._registers, Signal(LOAD, reset_less=True)
        with m.If(self.advance):
            m.d.sync += load.eq(load_of(m, self.ahead.op, self.ahead.modifiers))
        m.d.comb += [
            *(getattr(registers, name).eq(i[name]) for name in ("operands", "writes", "dst", "pdst")),
            registers.guard.eq(self.guard), registers.pred.eq(Cat(i.pred, i.pred_not)),
            self.resolved.eq(registers.resolved_guard), registers.reset.eq(self.reset),
            registers.ahead.eq(self.ahead), registers.advance.eq(self.advance), registers.loaded.eq(rules.loaded),
            rules.load.eq(load), rules.offset.eq(i.offset),
            rules.operands.eq(registers.values), rules.uniform.eq(registers.uniform), rules.guard.eq(self.resolved),
            *(rules.windows[NAMES[space]].eq(Cat(self.block[field] for field in fields))
              for space, fields in WINDOW_FIELDS.items()),
            rules.hit.eq(self.hit), rules.word.eq(self.word), self.number.eq(rules.number),
        ]

    def _send(self, m: Module, rules: LoadRules) -> None:
        """The operation with its resolved operands, or a MOV of what is known of its results, or of its destinations
        before it. Both are decoded before it is known which one is sent."""
        m.submodules.plain, m.submodules.move = plain, move = MicroDecoder(), MicroDecoder()
        i, sent, registers = self.micro, plain.micro, self._registers
        m.d.comb += [
            sent.eq(i), sent.operands.eq(registers.resolved),
            Cat(sent.guard, sent.guard_not).eq(self.resolved),
            Cat(sent.pred, sent.pred_not).eq(registers.resolved_pred),
        ]
        if self._affine.has_memory:
            with m.If(rules.vector):
                m.d.comb += sent.kind.eq(Kind.VECTOR)
        with m.If(self.collects):
            collect(m, sent, i, self.resolved)
        self._move(m, move.micro)
        moves = (self._expands & ~self.collects) | (registers.known.valid & ~self.collects)
        m.d.comb += self.sent.eq(Mux(moves, move.issued, plain.issued))

    def _move(self, m: Module, sent: Any) -> None:
        """A MOV of a constant and a constant predicate."""
        i, known, old = self.micro, self._registers.known, self._registers.old
        m.d.comb += [
            sent.eq(i), Cat(sent.guard, sent.guard_not).eq(self.resolved),
            sent.kind.eq(Kind.COMPUTE), sent.unit.eq(Unit.EITHER), sent.latency.eq(1),
            sent.op.eq(Op.MOV.value), sent.modifiers.eq(0), sent.offset.eq(0), sent.operands.eq(0),
        ]
        with m.If(self._expands):
            self._give(m, sent, old.compact, old.word, old.uniform & old.holds)
            m.d.comb += [
                sent.mask.eq(-1), Cat(sent.guard, sent.guard_not).eq(PT),
                sent.writes.eq(old.compact), sent.dst.eq(Mux(old.compact, i.dst, 0)),
                sent.pdst.eq(Mux(old.uniform, i.pdst, PT)),
            ]
        with m.Else():
            self._give(m, sent, i.writes, known.word, (i.pdst != PT) & known.holds)

    @staticmethod
    def _give(m: Module, sent: Any, has_word: Value, word: data.View, holds: Value) -> None:
        m.d.comb += Cat(sent.pred, sent.pred_not).eq(Cat(Const(PT, 3), ~holds))
        with m.If(has_word):
            m.d.comb += [sent.operands[0].base.eq(word.base), sent.operands[0].stride.eq(word.stride)]

    def observe(self) -> Shown:
        """See the contract."""
        return gather(self._registers)
