"""Fields of the datapath's ports, as tables: hardware makes its structs of them, benches their codecs.

A table is a list of (name, bits), the first field in the least significant bits. `docs/timing.md` says in which cycle
each port is valid.
"""

from collections.abc import Mapping

from warploom.arch.config import LANES, SmConfig
from warploom.arch.encoding import MODIFIER_BITS

Fields = list[tuple[str, int]]

TAG_BITS = 10
"""Tags name instructions in flight; the front end hands them out in turn."""

WARP_BITS = LANES * 32
"""Bits of a warp register."""

WRITERS = ("sp", "sfu", "mem")
"""Write-back ports, highest priority first."""


def index_bits(count: int) -> int:
    """Bits of an index below `count`, at least one."""
    return max(1, (count - 1).bit_length())


def issue_fields(config: SmConfig) -> Fields:
    """A decoded warp instruction. `reads` has a bit for each slot that reads a register; a slot that does not is
    zero, or `imm` in slot `imm_slot`. `lanes` are the executing lanes, `pred` the lane mask of the predicate operand
    (after inversion; 0 for an absent carry). `timing` is a `TimingClass`, `pipe` a `Pipe` below CONTROL. `writes` says
    that a register is written (dst is not RZ)."""
    return [
        ("tag", TAG_BITS), ("warp", index_bits(config.warps)), ("op", 8), ("modifiers", MODIFIER_BITS),
        ("pipe", 2), ("timing", 5), ("dst", 8), ("writes", 1), ("reads", 3), ("src0", 8), ("src1", 8), ("src2", 8),
        ("imm_slot", 2), ("imm", 32), ("lanes", LANES), ("pred", LANES),
    ]  # fmt: skip


def dispatch_fields(config: SmConfig) -> Fields:
    """What leaves a collector for its pipe; `collector` is where it waited."""
    return [
        ("tag", TAG_BITS), ("warp", index_bits(config.warps)), ("op", 8), ("modifiers", MODIFIER_BITS), ("pipe", 2),
        ("timing", 5), ("dst", 8), ("writes", 1), ("lanes", LANES), ("pred", LANES),
        ("collector", index_bits(config.collectors)),
    ]  # fmt: skip


def result_fields(config: SmConfig) -> Fields:
    """A result on its way to write-back, without its data word. `pred` is the predicate result by lane."""
    return [
        ("tag", TAG_BITS), ("warp", index_bits(config.warps)), ("dst", 8), ("writes", 1), ("lanes", LANES),
        ("pred", LANES),
    ]  # fmt: skip


def done_fields(config: SmConfig) -> Fields:
    """A completion: the instruction's tag and its predicate result."""
    return [("tag", TAG_BITS), ("pred", LANES)]


def probe_fields(config: SmConfig) -> Fields:
    """Everything a lockstep bench compares each cycle, apart from data words.

    For each bank: enabled, writing, row, and who (collector of a read, writer of a write; 0 when idle, as is the row).
    For each collector: busy, slots still waiting for a grant, slots with their operand present (both 0 when free).
    The arbiter's priority diagonal; the dispatch (valid, collector, tag; 0 when none); each write-back latch (valid,
    tag) and completion (valid, tag).
    """
    who = index_bits(max(config.collectors, len(WRITERS)))
    fields: Fields = [("diagonal", index_bits(max(config.banks, config.collectors)))]
    for bank in range(config.banks):
        fields += [(f"bank{bank}_enable", 1), (f"bank{bank}_write", 1), (f"bank{bank}_row", index_bits(config.rows)),
                   (f"bank{bank}_who", who)]
    for collector in range(config.collectors):
        fields += [(f"collector{collector}_busy", 1), (f"collector{collector}_waiting", 3),
                   (f"collector{collector}_present", 3)]
    fields += [("dispatch_valid", 1), ("dispatch_collector", index_bits(config.collectors)), ("dispatch_tag", TAG_BITS)]
    for writer in WRITERS:
        fields += [(f"{writer}_latch_valid", 1), (f"{writer}_latch_tag", TAG_BITS), (f"{writer}_done_valid", 1),
                   (f"{writer}_done_tag", TAG_BITS)]
    return fields


def width(fields: Fields) -> int:
    """Total bits of a table."""
    return sum(bits for _, bits in fields)


def pack(fields: Fields, values: Mapping[str, int]) -> int:
    """A plain integer of named values; every field must be given and fit."""
    word = offset = 0
    for name, bits in fields:
        value = int(values[name])
        if value >> bits:
            raise ValueError(f"{name} = {value} does not fit {bits} bits")
        word |= value << offset
        offset += bits
    return word


def unpack(fields: Fields, word: int) -> dict[str, int]:
    """Named values of a plain integer."""
    values = {}
    for name, bits in fields:
        values[name] = word & (1 << bits) - 1
        word >>= bits
    return values
