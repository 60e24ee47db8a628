"""Planted bugs in the control processor's kernel mode: its bench must catch each."""

from typing import Any

from amaranth import Module, Mux
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.moves import Move
from warploom.rtl.fg_simt.affine_execution import AffineExecution
from warploom.rtl.fg_simt.control import ControlProcessor, State
from warploom.rtl.fg_simt.decode import KernelDecoder, Role
from warploom.rtl.fg_simt.decoded_queue import DecodedQueue
from warploom.rtl.fg_simt.fragments import Fragments
from warploom.rtl.fg_simt.micro import MicroDecoder
from warploom.rtl.fg_simt.micro_builder import MicroBuilder
from warploom.rtl.fg_simt.vote_result import VoteResult
from warploom.tb.fg_simt.front_mutants import Change
from warploom.tb.fg_simt.test_control import BENCH
from warploom.tb.l1.mutants import changed, in_part
from warploom.tb.mutants import Mutant, Part

KERNELS, RARE, PROGRAM = (f"{BENCH}::{test}" for test in ("random_kernels", "rare_situations", "program"))
AFFINE = ("affine=abm",)


def _control(bug: str, change: Change, *settings: str) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return changed(ControlProcessor(affine=config.affine, probe=True), change)

    return Mutant("ControlProcessor", KERNELS, bug, made, settings)


def _part(kind: Part, bug: str, name: str, change: Change, *settings: str, bench: str = KERNELS) -> Mutant:
    """A bug in one of its parts."""
    def made(config: SmConfig) -> wiring.Component:
        unit = ControlProcessor(affine=config.affine, probe=True)
        changed(getattr(unit, name), change)
        return unit

    return Mutant("ControlProcessor", bench, bug, made, settings, kind)


def _own_pc(unit: Any, m: Module) -> None:
    """A fault of the memory unit is reported at the PC of the fragment."""
    with m.If(unit.stop):
        m.d.sync += unit._status.pc.eq(unit._fragments.pc)


def _forgets(unit: Any, m: Module) -> None:
    """After a fault it does not wait for its own answer."""
    with m.If(unit.stop):
        m.d.sync += unit._waits.eq(0)


def _unfenced(unit: Any, m: Module) -> None:
    """It does not wait for the last stores."""
    with m.If(unit._is(State.RUN) & unit._threads.advance & ~unit._threads.begins):
        m.d.comb += unit.over.eq(1)


def _deaf(unit: Any, m: Module) -> None:
    """A barrier does not wait for stores."""
    decoded = unit._decoded.next.payload
    with m.If(unit._executes & (decoded.role == Role.FENCE) & decoded.legal & unit.quiet & ~decoded.error):
        m.d.comb += unit._fragments.move.eq(Move.NEXT)


def _all_members(unit: Any, m: Module) -> None:
    """The mask of a vote is ignored."""
    m.d.comb += unit.ballot.eq((unit.own | Mux(unit.joins, unit.joining, 0)) & unit.holds)


def _pushes(unit: Any, m: Module) -> None:
    """Sends without room."""
    with m.If(unit._executes & unit._data & unit._sends):
        m.d.comb += unit.sent.valid.eq(1)


def _lawless(unit: Any, m: Module) -> None:
    """Bits behind the modifiers are legal."""
    with m.If(unit.instruction.modifiers[-1]):
        m.d.comb += unit.legal.eq(1)


def _stray(config: SmConfig) -> wiring.Component:
    unit = ControlProcessor(affine=config.affine, probe=True)
    changed(unit._decoded.decoder, _lawless)
    return unit


def _modest(unit: Any, m: Module) -> None:
    """The memory unit's fault comes first."""
    with m.If(unit.stop & unit.fault.cause.any()):
        m.d.sync += unit._status.eq(unit.fault)


def _keeping(unit: Any, m: Module) -> None:
    """What is decoded stays when fragments change."""
    m.d.comb += unit._decoded.drop.eq(unit.stop | (unit.redirect & ~unit._fragments.changes))


def _lonely(unit: Any, m: Module) -> None:
    """Lanes that have just joined do not vote."""
    m.d.comb += unit.ballot.eq(unit.own & unit.instruction.imm & unit.holds)


def _missing(unit: Any, m: Module) -> None:
    """Lanes that wait elsewhere need not vote."""
    m.d.comb += unit.elsewhere.eq(0)


def _late(unit: Any, m: Module) -> None:
    """The last instruction's operands go to the lanes after a vote."""
    with m.If(unit.votes):
        m.d.comb += unit.advance.eq(0)


def _no_carry(unit: Any, m: Module) -> None:
    """A carry that is absent is a carry."""
    m.d.comb += unit.micro.pred_not.eq(unit.instruction.psrc_not)


def _forgetful(unit: Any, m: Module) -> None:
    """The old values of a register are lost when some lanes write it."""
    m.d.comb += unit._expands.eq(0)


def _hasty(unit: Any, m: Module) -> None:
    """What needs the rules takes one cycle."""
    m.d.comb += unit._waits.eq(0)


def _partial(unit: Any, m: Module) -> None:
    """An expansion writes the executing lanes alone."""
    with m.If(unit._expands):
        m.d.comb += unit.sent.operation.mask.eq(unit.micro.mask)


def _slow(config: SmConfig) -> wiring.Component:
    change = in_part("decoder", lambda decoder, m: m.d.comb.__iadd__(decoder.issued.latency.eq(3)))
    return changed(ControlProcessor(affine=config.affine, probe=True), change)


MUTANTS = (
    _control("reports faults of accesses at the wrong PC", _own_pc),
    _control("does not wait for its own answer after a fault", _forgets),
    _control("ends before the last stores", _unfenced),
    _control("does not wait for stores at a barrier", _deaf),
    _control("sends without room", _pushes),
    _part(VoteResult, "counts lanes that do not vote", "_vote", _all_members),
    _control("reports a fault of memory before its own of the same cycle", _modest),
    _control("executes what was taken before a redirect", _keeping),
    _part(VoteResult, "counts without the lanes that have just joined", "_vote", _lonely, bench=RARE),
    _part(Fragments, "lets lanes miss a vote", "_fragments", _missing, bench=RARE),
    _part(DecodedQueue, "sends a vote as it was decoded", "_decoded", _late),
    Mutant("ControlProcessor", KERNELS, "executes what has stray bits", _stray, part=KernelDecoder),
    _part(MicroBuilder, "adds a carry that is absent", "_builder", _no_carry),
    _part(AffineExecution, "loses a register that is written in part", "_affine", _forgetful, *AFFINE),
    _part(AffineExecution, "does not wait for the rules", "_affine", _hasty, *AFFINE),
    _part(AffineExecution, "expands the executing lanes alone", "_affine", _partial, *AFFINE),
    Mutant("ControlProcessor", PROGRAM, "gives all operations the latency of a product", _slow, part=MicroDecoder),
)
