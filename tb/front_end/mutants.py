"""Planted bugs in units of the front end: each bench must catch its own."""

from amaranth import Const, Value

from warploom.arch.interfaces import GROUP_BITS
from warploom.rtl.front_end.block_scheduler import BlockScheduler
from warploom.rtl.front_end.group_picker import GroupPicker
from warploom.tb.mutants import Mutant, Rewire, Tampered

PICKER, SCHEDULER = "warploom.tb.front_end.test_group_picker", "warploom.tb.front_end.test_block_scheduler"
SETTINGS = ("warps=8", "schedulers=1")
SLOTS = 8


def _picker(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("GroupPicker", f"{PICKER}::random_warps", bug, lambda c: Tampered(GroupPicker(slots=SLOTS), rewire),
                  SETTINGS)


def _scheduler(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("BlockScheduler", f"{SCHEDULER}::random_grids", bug,
                  lambda c: Tampered(BlockScheduler(sms=14), rewire))


def _one_bit(groups: Value) -> Value:
    """Group numbers of which only the lowest bit is left."""
    return groups & Const(sum(1 << GROUP_BITS * slot for slot in range(SLOTS)), GROUP_BITS * SLOTS)


MUTANTS = (
    _picker("does not see that a warp joins slot 1", lambda o, m: {"joins": o.joins & ~0b10}),
    _picker("leaves a group that waits for a short time", lambda o, m: {"running": o.candidates}),
    _picker("tells groups apart by one bit", lambda o, m: {"groups": _one_bit(Value.cast(o.groups))}),
    _picker("leaves out the highest slot", lambda o, m: {"candidates": o.candidates[:-1]}),
    _scheduler("does not shorten the last chunk", lambda o, m: {"last": o.size}),
    _scheduler("gives a chunk too many", lambda o, m: {"chunks": o.chunks + 1}),
    _scheduler("passes over SM 3", lambda o, m: {"ready": o.ready & ~0b1000}),
)
