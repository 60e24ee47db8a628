"""Results of a bench's outside units for undefined operands."""

from types import SimpleNamespace

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Shuffle
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.words import ALL_LANES, join, split
from warploom.tb.outside import OutsideUnits

POISON = 0xA5A5A5A5


def test_a_shuffle_from_a_lane_that_does_not_execute_is_undefined() -> None:
    """Lane l reads lane l + 8; lanes 16 to 23 do not execute, and the trace has zero for lanes that read them."""
    lanes = ALL_LANES & ~(0xFF << 16)
    values = [100 + lane for lane in range(32)]
    traced = [0 if 8 <= lane < 24 else values[lane + 8 if lane < 24 else lane] for lane in range(32)]
    outside = OutsideUnits()
    static = Static(Instruction(op=Op.SHFL, dst=1, shuffle=Shuffle.DOWN, src=(2, 3, 4)), lambda offset: 0)
    words = [join(value if lanes >> lane & 1 else POISON for lane, value in enumerate(slot))
             for slot in (values, [8] * 32, [31] * 32)]
    outside.accept(Flight(static, SimpleNamespace(slot=0), 5, lanes, 0, 0, -1, 0, join(traced)), words, 0, ALL_LANES)
    answer = split(outside.answer(5)[0])
    assert [answer[lane] for lane in range(32) if lanes >> lane & 1] == [*traced[:16], *traced[24:]]
