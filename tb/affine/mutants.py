"""Planted bugs in the affine unit, its registers and the expander."""

from collections.abc import Callable
from types import SimpleNamespace
from unittest.mock import patch

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import SmConfig
from warploom.rtl.affine.linear import LinearSum
from warploom.rtl.affine.register_file import AffineRegisterFile
from warploom.rtl.affine.rules import Rules
from warploom.rtl.affine.stride import StrideFinder
from warploom.rtl.affine.unit import AffineUnit
from warploom.rtl.operands.address_slot import AddressSlot
from warploom.rtl.operands.compact_slots import CompactSlots
from warploom.rtl.operands.expand import Expander
from warploom.tb.affine.test_unit import WITHOUT_ROWS
from warploom.tb.mutants import Mutant, Tampered, altered

BENCH, SETTINGS = "warploom.tb.affine.test_unit::random_attempts", ("affine=ab",)


class Trusting(Rules):
    """The part of an affine operand in the result of a shift always counts as linear."""

    def _follows(self, state: data.View) -> Value:
        return Const(1, 1)


class Swapping(Rules):
    """A minimum or maximum is accepted even if it is a different operand in the first and in the last lane."""

    def _compare(self, state: data.View) -> dict[str, Value]:
        return super()._compare(state) | {"possible": state.possible}


class Unsquashing(AffineUnit):
    """Attempts after a refused one go on."""

    def _squash(self, m: Module, warps: list[Value], valid: Value) -> None:
        m.d.sync += valid.eq(Cat(self.attempt.valid, valid))


class Impatient(AffineUnit):
    """Registers that older attempts write are read before they are written."""

    def _find_coming(self, m: Module, taken: data.View, held: list[data.View], valid: Value) -> None:
        super()._find_coming(m, taken, held, Const(0, len(valid)))


class Borrowing(AffineUnit):
    """A register without a row has what comes for the register of the next warp that would be in its entry."""

    def _find_coming(self, m: Module, taken: data.View, held: list[data.View], valid: Value) -> None:
        with patch.object(self.register_file, "has_entry", return_value=Const(1, 1)):
            super()._find_coming(m, taken, held, valid)


class Expecting(AffineUnit):
    """A register comes from any older attempt that names it as its destination, even if that writes nothing."""

    def _find_coming(self, m: Module, taken: data.View, held: list[data.View], valid: Value) -> None:
        writing = [SimpleNamespace(entry=stage.entry, writes=Const(1, 1)) for stage in held]
        first = SimpleNamespace(attempt=SimpleNamespace(writes=Const(1, 1)), **{
            name: taken[name] for name in ("entry", "coming", "stored", "compact")})
        super()._find_coming(m, first, writing, valid)


class Boundless(AffineRegisterFile):
    """Every register has an entry."""

    def has_entry(self, register: Value) -> Value:
        return Const(1, 1)


class Slow(AffineRegisterFile):
    """A write shows only when it has reached flip-flops and SRAM."""

    def _waits(self, entry: Value) -> Value:
        return Const(0, 1)


def _boundless(config: SmConfig) -> AffineUnit:
    unit = AffineUnit(config=config)
    unit.register_file = Boundless(config=config)
    return unit


def _with(part: str, make: Callable[[], wiring.Component]) -> Callable[[SmConfig], wiring.Component]:
    """A unit with one wrong part."""

    def unit(config: SmConfig) -> wiring.Component:
        made = AffineUnit(config=config)
        setattr(made, part, make())
        return made

    return unit


def _without(*names: str) -> Callable[[], wiring.Component]:
    """Rules that ignore some fields of the slots."""

    def blind(outer: Tampered, m: Module) -> dict[str, Value]:
        return {"slots": Cat(altered(m, slot, **dict.fromkeys(names, 0)) for slot in outer.slots)}

    return lambda: Tampered(Rules(), blind)


def _unsigned(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"value": altered(m, outer.value, stride=outer.value.stride[: STRIDE_BITS - 1])}


def _level(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"answers": Cat(altered(m, answer, high=0) for answer in outer.answers)}


def _agreed(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"answers": Cat(altered(m, answer, verdict=0) for answer in outer.answers)}


def _late(outer: Tampered, m: Module) -> dict[str, Value]:
    values = Signal(outer.values.shape())
    m.d.sync += values.eq(outer.values)
    return {"values": values.as_value()}


MUTANTS = (
    Mutant("CompactSlots", "warploom.tb.affine.test_slots", "takes base and stride a cycle late",
           lambda c: Tampered(CompactSlots(depth=1), _late), ("affine=a",)),
    Mutant("AddressSlot", "warploom.tb.affine.test_address_slot", "takes base and stride a cycle late",
           lambda c: Tampered(AddressSlot(config=c), _late), ("affine=abm",)),
    Mutant("Expander", "warploom.tb.affine.test_expand", "takes strides for unsigned",
           lambda c: Tampered(Expander(), _unsigned)),
    Mutant("AffineRegisterFile", "warploom.tb.affine.test_register_file", "does not forget",
           lambda c: Tampered(AffineRegisterFile(config=c), lambda o, m: {"forget": Const(0, 1)}), ("affine=a",)),
    Mutant("AffineRegisterFile", "warploom.tb.affine.test_register_file",
           "gives all warps of a pair the same registers",
           lambda c: Tampered(AffineRegisterFile(config=c), lambda o, m: {"named": altered(
               m, o.named, warp=o.named.warp & ~1)}), ("affine=a",)),
    Mutant("AffineRegisterFile", "warploom.tb.affine.test_register_file", "does not show a write that waits",
           lambda c: Slow(config=c), ("affine=a",)),
    *(Mutant("AffineUnit", BENCH, bug, make, SETTINGS) for bug, make in (
        ("does not see that operands wrap", _with("rules", _without("wraps", "wraps_signed"))),
        ("executes what is generic", _with("rules", lambda: Tampered(Rules(), lambda o, m: {"possible": Const(1, 1)}))),
        ("does not compare high words", _with("rules", lambda: Tampered(Rules(), _level))),
        ("does not compare predicate results", _with("rules", lambda: Tampered(Rules(), _agreed))),
        ("shifts everything", _with("rules", Trusting)),
        ("takes any extreme", _with("rules", Swapping)),
        ("does not squash", lambda c: Unsquashing(config=c)),
        ("does not wait for what comes", lambda c: Impatient(config=c)),
        ("expects a result of an attempt that writes nothing", lambda c: Expecting(config=c)),
        ("does not subtract what comes", _with("linear_sum", lambda: Tampered(
            LinearSum(), lambda o, m: {"minus": Const(0, 1)}))),
        ("cuts strides", _with("stride_finder", lambda: Tampered(StrideFinder(), lambda o, m: {"fits": Const(1, 1)}))),
    )),
    Mutant("AffineUnit", BENCH, "borrows what comes for another warp", lambda c: Borrowing(config=c), WITHOUT_ROWS),
    Mutant("AffineUnit", BENCH, "keeps registers without a row", _boundless, WITHOUT_ROWS),
)
