# amaranth: UnusedElaboratable=no
"""Units of an SAU whose operations take several cycles (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from collections.abc import Mapping

from amaranth import Module, ShapeLike, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.encoding import modifier_fields
from warploom.arch.fg_simt.sizes import Sizes
from warploom.arch.isa import Op
from warploom.rtl.fg_simt.lane_unit import LaneUnit
from warploom.rtl.float import convert, divide, fused
from warploom.rtl.float.pipeline import connect_between
from warploom.rtl.lane_control import Unit, decode
from warploom.rtl.lane_stages import COMPUTED, CONDITIONED, OPERANDS, Compute, Condition, Finish

FUSED, CONVERSIONS, PRODUCTS, QUOTIENTS = (*fused.ARITHMETIC,), (Op.CVT,), (Op.IMUL, Op.IMAD), (*divide.CONTROL,)
"""Operations of the units."""


class StagedLane(wiring.Component):
    """A lane of several stages with registers between them, and none in front or behind: the result is there as many
    cycles after the operands as there are registers.

    Parameters
    ----------
    operands : the struct that enters.
    stages : combinational components with one input and one output.
    """

    def __init__(self, *, operands: ShapeLike, stages: Mapping[str, wiring.Component]) -> None:
        self.parts = stages
        super().__init__({"operands": In(operands), "result": Out(32)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.result.eq(connect_between(m, self.operands, self.parts))
        return m


class ProductLane(wiring.Component):
    """A lane for IMUL and IMAD: the three stages of the integer lane, of which it needs the multiplier alone.

    Members
    -------
    operands : control signals, operand words and the predicate operand.
    result, verdict : word and carry, two cycles later.
    """

    operands: In(OPERANDS)
    result: Out(32)
    verdict: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.condition = condition = Condition()
        m.submodules.compute = compute = Compute()
        m.submodules.finish = finish = Finish()
        conditioned, computed = Signal(CONDITIONED, reset_less=True), Signal(COMPUTED, reset_less=True)
        m.d.sync += [conditioned.eq(condition.conditioned), computed.eq(compute.computed)]
        m.d.comb += [
            condition.operands.eq(self.operands),
            compute.conditioned.eq(conditioned),
            finish.computed.eq(computed),
            finish.computed.control.unit.eq(Unit.PRODUCT),
            self.result.eq(finish.result),
            self.verdict.eq(finish.verdict),
        ]
        return m


def _pass_modifiers(m: Module, op: Value, modifiers: Value, control: Mapping[Op, Mapping[str, Value]]) -> None:
    """Drive the fields that have the names of modifiers, for each operation."""
    with m.Switch(op):
        for operation, fields in control.items():
            with m.Case(operation.value):
                m.d.comb += [fields[name].eq(modifiers[offset : offset + bits])
                             for name, offset, bits in modifier_fields(operation) if name in fields]


def _decode_fused(m: Module, op: Value, modifiers: Value, operands: data.View) -> None:
    _pass_modifiers(m, op, modifiers, {operation: _members(operands.modes) for operation in FUSED})
    with m.Switch(op):
        for operation, value in fused.ARITHMETIC.items():
            with m.Case(operation.value):
                m.d.comb += operands.operation.eq(value)


def _decode_conversion(m: Module, op: Value, modifiers: Value, operands: data.View) -> None:
    types = {name: Signal(bits, name=name) for name, _, bits in modifier_fields(Op.CVT) if name.endswith("type")}
    _pass_modifiers(m, op, modifiers, {Op.CVT: {**_members(operands.modes), "integral": operands.integral, **types}})
    for name, kind in (("src_type", operands.source), ("dst_type", operands.target)):
        with m.Switch(types[name]):
            for number, fields in convert.KINDS.items():
                with m.Case(number.value):
                    m.d.comb += [kind[field].eq(value) for field, value in fields.items()]


def _decode_product(m: Module, op: Value, modifiers: Value, operands: data.View) -> None:
    m.d.comb += operands.control.eq(decode(m, op, modifiers))


def _decode_division(m: Module, op: Value, modifiers: Value, operands: data.View) -> None:
    _pass_modifiers(m, op, modifiers, dict.fromkeys(QUOTIENTS, _members(operands)))
    with m.Switch(op):
        for operation, fields in divide.CONTROL.items():
            with m.Case(operation.value):
                m.d.comb += [operands[name].eq(value) for name, value in fields.items()]


def _members(fields: data.View) -> dict[str, Value]:
    """The fields of a struct by name."""
    return {str(name): fields[name] for name, _ in fields.shape()}


def fused_unit(sizes: Sizes) -> LaneUnit:
    """FADD, FMUL and FFMA, latency 5."""
    return LaneUnit(name="fused_lane", decode=_decode_fused, sizes=sizes, lane=lambda: StagedLane(
        operands=fused.OPERANDS, stages=fused.FusedMultiplyAdd().parts))


def conversion_unit(sizes: Sizes) -> LaneUnit:
    """CVT, latency 3."""
    return LaneUnit(name="conversion_lane", decode=_decode_conversion, sizes=sizes, lane=lambda: StagedLane(
        operands=convert.OPERANDS, stages=convert.Converter().parts))


def product_unit(sizes: Sizes) -> LaneUnit:
    """IMUL and IMAD, latency 3."""
    return LaneUnit(name="product_lane", lane=ProductLane, decode=_decode_product, sizes=sizes)


def division_unit(sizes: Sizes, *, probe: bool = False) -> LaneUnit:
    """FDIV, FRCP, FSQRT, IDIV and IREM. The results of a group that enters in t are there in t + 21, from a register.
    `probe` is that of the dividers."""
    return LaneUnit(name="division_lane", lane=lambda: divide.Divider(probe=probe), decode=_decode_division,
                    sizes=sizes)
