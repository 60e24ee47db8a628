"""The control signals of a lane, for its benches. Other benches use `lane_driver` alone, and do not load Amaranth."""

from warploom.arch.isa import Op
from warploom.rtl.lane_control import DECODING


def control(op: Op, chosen: dict[str, int]) -> dict[str, int]:
    """The control signals of an operation with these modifiers."""
    static = {name: getattr(value, "value", value) for name, value in DECODING[op].items()}
    return static | chosen
