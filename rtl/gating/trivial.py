"""Trivial operations: lanes whose result is zero or an operand, because of known zeros ([RADAIDEH], 4.4.2)."""

from collections.abc import Callable
from types import SimpleNamespace

from amaranth import Cat, Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES
from warploom.arch.encoding import modifier_fields
from warploom.arch.interfaces import OUTCOME_BITS, WARP_BITS, Outcome
from warploom.arch.isa import Op
from warploom.arch.modifiers import Rounding

SLOTS = 3
"""Operand slots a, b and c."""

TRIVIAL = data.StructLayout(
    {"table": data.ArrayLayout(OUTCOME_BITS, 1 << SLOTS)} | dict.fromkeys(("no_carry", "normal", "positive"), 1)
)
"""When an operation is trivial: its `Outcome` for each pattern of known zeros (bit 0 of the index for a, 1 for b, 2 for
c), and the conditions on which the lane need not compute. `no_carry`: the predicate operand is 0. In the slots that are
not known zero, `normal`: the exponent is neither 0 nor 255; `positive`: the sign is 0."""

Row = tuple[ValueLike, ValueLike, ValueLike, ValueLike]
"""Whether ZERO, A, B, C apply; the first one has priority."""

Rule = Callable[[SimpleNamespace, int, int, int], Row]
"""From modifiers and known zeros to a row of the table in `docs/contract/pipes.md`, *Trivial lanes*."""


def _lop3(modifiers: SimpleNamespace, a: int, b: int, c: int) -> Row:
    """The function of the slots that are not known zero: rows of `lut` with a one for a known zero are ignored."""
    known = a << 2 | b << 1 | c
    left = [index for index in range(8) if not index & known]
    is_slot = [Cat(modifiers.lut[index] == (index >> place & 1) for index in left).all() for place in (2, 1, 0)]
    is_zero = ~Cat(modifiers.lut[index] for index in left).any()
    return (is_zero, *is_slot) if known else (0, 0, 0, 0)


RULES: dict[Op, Rule] = {
    **dict.fromkeys((Op.MOV, Op.POPC, Op.BREV, Op.CVT), lambda m, a, b, c: (a, 0, 0, 0)),
    Op.IADD: lambda m, a, b, c: (a & b, b, a, 0),
    Op.ISUB: lambda m, a, b, c: (a & b, b, 0, 0),
    **dict.fromkeys((Op.IMUL, Op.IMIN, Op.FMUL, Op.FMIN), lambda m, a, b, c: (a | b, 0, 0, 0)),
    **dict.fromkeys((Op.IMAD, Op.DP4A), lambda m, a, b, c: ((a | b) & c, 0, 0, a | b)),
    **dict.fromkeys((Op.IMAX, Op.FMAX), lambda m, a, b, c: (a & b, b, a, 0)),
    Op.LOP3: _lop3,
    Op.SHF: lambda m, a, b, c: (a & (b | m.signed), c & m.right, c & ~m.right & ~m.signed, 0),
    **dict.fromkeys((Op.PRMT, Op.SEL), lambda m, a, b, c: (a & b, 0, 0, 0)),
    Op.BMSK: lambda m, a, b, c: (b, 0, 0, 0),
    Op.FADD: lambda m, a, b, c: (a & b, b & ~m.sat, a & ~m.sat, 0),
    Op.FFMA: lambda m, a, b, c: ((a | b) & c, 0, 0, (a | b) & ~m.sat),
}
"""The operations that can be trivial; all others always compute."""

REQUIRED: dict[Op, Callable[[SimpleNamespace], dict[str, ValueLike]]] = {
    **dict.fromkeys((Op.IADD, Op.ISUB, Op.IMAD), lambda m: {"no_carry": 1}),
    **dict.fromkeys((Op.IMIN, Op.IMAX), lambda m: {"positive": m.signed}),
    Op.FADD: lambda m: {"normal": 1},
    **dict.fromkeys((Op.FMUL, Op.FMIN, Op.FMAX), lambda m: {"normal": 1, "positive": 1}),
    Op.FFMA: lambda m: {"normal": 1, "positive": m.rounding == Rounding.RM.value},
}
"""The conditions of each operation that has any."""


def decode_trivial(m: Module, op: Value, modifiers: Value, pipe: Value, sp_pipes: int = 1) -> data.View:
    """`TRIVIAL` of an instruction; an instruction for a pipe other than SP (the first ones) always computes."""
    decoded = Signal(TRIVIAL, name="trivial_decoded")
    with m.If(pipe < sp_pipes), m.Switch(op):
        for operation, rule in RULES.items():
            fields = modifier_fields(operation)
            named = SimpleNamespace(**{name: modifiers[offset : offset + bits] for name, offset, bits in fields})
            with m.Case(operation.value):
                for known in range(1 << SLOTS):
                    row = rule(named, *(known >> slot & 1 for slot in range(SLOTS)))
                    m.d.comb += decoded.table[known].eq(_first(row))
                if operation in REQUIRED:
                    m.d.comb += [decoded[name].eq(value) for name, value in REQUIRED[operation](named).items()]
    return decoded


def _first(row: Row) -> Value:
    """The outcome of a row."""
    outcome: Value = Const(Outcome.COMPUTE, OUTCOME_BITS)
    for applies, kind in reversed(list(zip(row, (Outcome.ZERO, Outcome.A, Outcome.B, Outcome.C), strict=True))):
        outcome = Mux(applies, kind, outcome)
    return outcome


class TrivialDetector(wiring.Component):
    """Finds the lanes that need not compute.

    Combinational. The operands come late, so they are used last: their conditions only change an outcome, chosen by the
    known zeros, into COMPUTE.

    Members
    -------
    rule : `TRIVIAL` of the operation, from a register.
    known : for each slot, the lanes in which it is known to be zero.
    a, b, c : operand words; only exponents and signs are used.
    pred : the lane mask of the predicate operand.
    lanes : the executing lanes.
    trivial : the `Outcome` of each lane, COMPUTE in those that do not execute.
    """

    rule: In(TRIVIAL)
    known: In(data.ArrayLayout(LANES, SLOTS))
    a: In(WARP_BITS)
    b: In(WARP_BITS)
    c: In(WARP_BITS)
    pred: In(LANES)
    lanes: In(LANES)
    trivial: Out(OUTCOME_BITS * LANES)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rule = self.rule
        for lane in range(LANES):
            known = Cat(mask[lane] for mask in self.known)
            words = [word.word_select(lane, 32) for word in (self.a, self.b, self.c)]
            normal, positive = Signal(name=f"normal_{lane}"), Signal(name=f"positive_{lane}")
            m.d.comb += [
                normal.eq((known | Cat(word[23:31].any() & ~word[23:31].all() for word in words)).all()),
                positive.eq((known | ~Cat(word[31] for word in words)).all()),
            ]
            early = self.lanes[lane] & ~(rule.no_carry & self.pred[lane])
            late = (normal | ~rule.normal) & (positive | ~rule.positive)
            outcome = rule.table[known] & early.replicate(OUTCOME_BITS)
            m.d.comb += self.trivial.word_select(lane, OUTCOME_BITS).eq(outcome & late.replicate(OUTCOME_BITS))
        return m
