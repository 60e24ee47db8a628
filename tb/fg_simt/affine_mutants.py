"""Planted bugs in the affine registers of the control processor, and in the rules of its loads: each bench must catch
its own."""

from collections.abc import Callable
from typing import Any

from amaranth import Cat, Const, Module, Mux, Value

from warploom.arch.isa import PT, Op
from warploom.arch.mechanisms import Affine
from warploom.rtl.fg_simt.affine import AffineRegisters
from warploom.rtl.fg_simt.affine_attempt import Attempt
from warploom.rtl.fg_simt.followed import Followed
from warploom.rtl.fg_simt.load_rules import LoadRules
from warploom.tb.fg_simt import test_affine, test_followed, test_load_rules
from warploom.tb.l1.mutants import Change, changed, in_part
from warploom.tb.mutants import Mutant, Part, Rewire, Tampered, altered

SETTINGS = ("affine=abm",)


def _registers(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("AffineRegisters", f"{test_affine.BENCH}::random_instructions", bug,
                  lambda config: Tampered(AffineRegisters(affine=Affine.ABM, probe=True), rewire), SETTINGS)


def _inside(bug: str, change: Change, part: Part | None = None) -> Mutant:
    return Mutant("AffineRegisters", f"{test_affine.BENCH}::random_instructions", bug,
                  lambda config: changed(AffineRegisters(affine=Affine.ABM, probe=True), change), SETTINGS, part)


def _loads(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("LoadRules", test_load_rules.BENCH, bug, lambda config: Tampered(LoadRules(), rewire), SETTINGS)


def _in_loads(bug: str, change: Change) -> Mutant:
    return Mutant("LoadRules", test_load_rules.BENCH, bug, lambda config: changed(LoadRules(), change), SETTINGS)


def _followed(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("Followed", test_followed.BENCH, bug,
                  lambda config: Tampered(Followed(number_bits=5, value=49, copies=4), rewire), SETTINGS)


def _written(condition: Callable[[Any], Value]) -> Rewire:
    return lambda o, m: {"written": altered(m, o.written, valid=o.written.valid & condition(o))}


def _holding(unit: Any, m: Module) -> None:
    """Attempts do not look at their predicate operand."""
    m.d.comb += unit.attempt.pred.number.eq(PT)


def _single(attempt: Any, m: Module) -> None:
    """A comparison is not combined with the predicate operand."""
    with m.If(attempt.plan.rule.combined):
        m.d.comb += attempt.known.holds.eq(attempt.lanes[0].verdict)


def _trusting(unit: Any, m: Module) -> None:
    m.d.comb += unit.known.valid.eq(unit.attempt.rules.holds | unit.attempt.plan.logic | unit.loaded.valid)


def _sticky(unit: Any, m: Module) -> None:
    """What is written in the cycle of a reset stays."""
    with m.If(unit.reset & unit.write & unit.writes & unit.known.valid):
        m.d.sync += unit._compact.bit_select(unit.dst, 1).eq(1)


def _stale(unit: Any, m: Module) -> None:
    """The next instruction reads what was there before the last write."""
    m.d.comb += unit.registers.written.valid.eq(0)


def _unfollowed(unit: Any, m: Module) -> None:
    """What an instruction expands stays known to it."""
    m.d.comb += unit.registers.written.valid.eq((unit.write | unit.expand) & unit.writes & unit.advance)


def _flat(unit: Any, m: Module) -> None:
    """A register that the last instruction has written counts as uniform."""
    m.d.comb += unit._strides.eq(0)


def _deaf(unit: Any, m: Module) -> None:
    with m.If(unit.expand):
        m.d.sync += unit._uniform.eq(unit._uniform)


def _operand(slot: int, **fields: int) -> Rewire:
    def rewire(outer: Any, m: Module) -> dict[str, Any]:
        operands = list(outer.operands)
        operands[slot] = altered(m, operands[slot], **fields)
        return {"operands": Cat(*operands)}

    return rewire


def _unshifted(unit: Any, m: Module) -> None:
    """The word of a narrow load is the first one of its word."""
    m.d.comb += unit.loaded.word.eq(unit._extended(m, unit._found.word))


def _trustful(unit: Any, m: Module) -> None:
    """A word counts as found whether it was there or not."""
    m.d.sync += unit._found.valid.eq(1)


MUTANTS = (
    _inside("computes with a predicate operand that differs between lanes", _holding),
    _inside("does not combine comparisons", in_part("attempt", _single), Attempt),
    _inside("accepts strides that do not fit", _trusting),
    _inside("keeps a register beyond the end of its warp", _sticky),
    _inside("does not expand predicates", _deaf),
    _registers("has no tag of the last predicate", lambda o, m: {"pdst": Mux(o.pdst == PT - 1, PT, o.pdst)}),
    _registers("forgets that a guard is inverted", lambda o, m: {"guard": altered(m, o.guard, inverted=0)}),
    _registers("takes an IMAX for an IMIN",
               lambda o, m: {"ahead": altered(m, o.ahead, op=Mux(o.ahead.op == Op.IMAX, Op.IMIN, o.ahead.op))}),
    _inside("reads what was there before the last write", _stale),
    _inside("does not see that its source is expanded", _unfollowed),
    _inside("takes a register with a stride for a uniform one", _flat),
    _loads("takes any stride for that of the access",
           lambda o, m: {"vector": o.inner.vector | o.load.valid & o.operands[0].stride[2]}),
    _loads("lets a load execute for all lanes under a guard", lambda o, m: {"guard": Const(PT, 4)}),
    _loads("does not see that the high word differs between lanes", _operand(1, stride=0)),
    _in_loads("takes the word from its first byte on", _unshifted),
    _in_loads("takes any word for the one that it looks up", _trustful),
    _loads("has no end of constants", lambda o, m: {
        "windows": altered(m, o.windows, constants=Cat(o.windows.constants.base, Const(-1, 32)))}),
    _followed("does not see what is written as it reads", _written(lambda o: ~o.advance)),
    _followed("keeps what has become unknown", _written(lambda o: o.advance)),
    _followed("knows what is written in the cycle of a reset", lambda o, m: {"reset": o.reset & ~o.written.valid}),
    _followed("follows one entry for two copies", lambda o, m: {"ahead": Cat(*list(o.ahead)[:-1], o.ahead[0])}),
)
