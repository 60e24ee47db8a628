"""Control signals of the integer lanes, and their decoder."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, enum

from warploom.arch.encoding import modifier_fields
from warploom.arch.isa import INTEGER_OPS, Op
from warploom.arch.modifiers import MODIFIER_KINDS


class Unit(enum.Enum, shape=4):
    """The part of the lane that gives the register result; NONE gives zero."""

    NONE, MOVE, ADD, PRODUCT, EXTREME, LOGIC, SHIFT, PERMUTE, COUNT, LEADING, REVERSE, SELECT = range(12)


class Verdict(enum.Enum, shape=2):
    """The source of the predicate result; NONE is false."""

    NONE, CARRY, PRODUCT_CARRY, COMPARISON = range(4)


DECODING: dict[Op, dict[str, int]] = {
    Op.MOV: {"unit": Unit.MOVE},
    Op.IADD: {"unit": Unit.ADD, "verdict": Verdict.CARRY, "carry_in": 1},
    Op.ISUB: {"unit": Unit.ADD, "verdict": Verdict.CARRY, "carry_in": 1, "subtract": 1},
    Op.IMUL: {"unit": Unit.PRODUCT},
    Op.IMAD: {"unit": Unit.PRODUCT, "verdict": Verdict.PRODUCT_CARRY, "accumulate": 1},
    Op.IMIN: {"unit": Unit.EXTREME, "subtract": 1},
    Op.IMAX: {"unit": Unit.EXTREME, "subtract": 1, "maximum": 1},
    Op.LOP3: {"unit": Unit.LOGIC},
    Op.SHF: {"unit": Unit.SHIFT},
    Op.PRMT: {"unit": Unit.PERMUTE},
    Op.BMSK: {"unit": Unit.SHIFT, "mask": 1},
    Op.POPC: {"unit": Unit.COUNT},
    Op.FLO: {"unit": Unit.LEADING},
    Op.BREV: {"unit": Unit.REVERSE},
    Op.ISETP: {"verdict": Verdict.COMPARISON, "subtract": 1},
    Op.SEL: {"unit": Unit.SELECT},
}
"""Control signals of each operation, zero if not listed; its modifiers pass under their own names."""

MODIFIERS = ("signed", "high", "right", "wrap", "lut", "cond", "combine")

CONTROL = data.StructLayout(
    {"unit": Unit, "verdict": Verdict}
    | dict.fromkeys(("carry_in", "subtract", "accumulate", "maximum", "mask"), 1)
    | {name: MODIFIER_KINDS[name].bits for name in MODIFIERS}
)
"""Control signals of a lane.

`carry_in`: the predicate operand enters the adder. `subtract`: the adder gives a - b. `accumulate`: c and the predicate
operand enter the product. `maximum`: the larger of a and b. `mask`: the shifter makes a bit mask.
"""


def decode(m: Module, op: Value, modifiers: Value) -> data.View:
    """The control signals of an instruction."""
    control = Signal(CONTROL, name="control")
    with m.Switch(op):
        for operation in sorted(INTEGER_OPS):
            with m.Case(operation.value):
                m.d.comb += [control[name].eq(value) for name, value in DECODING[operation].items()]
                m.d.comb += [
                    control[name].eq(modifiers[offset : offset + bits])
                    for name, offset, bits in modifier_fields(operation)
                ]
    return control
