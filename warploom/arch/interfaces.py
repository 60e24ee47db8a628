"""Fields of the datapath's ports, as tables: hardware makes its structs of them, benches their codecs.

A table is a list of (name, bits), the first field in the least significant bits. `docs/timing.md` says in which cycle
each port is valid.
"""

from collections.abc import Mapping
from enum import IntEnum

from warploom.arch.config import COLUMNS, GROUP, LANES, SUB_BANKS, Coalescing, Gating, SmConfig
from warploom.arch.encoding import MODIFIER_BITS

Fields = list[tuple[str, int]]

TAG_BITS = 10
"""Tags name instructions in flight; the front end hands them out in turn."""

WARP_BITS = LANES * 32
"""Bits of a warp register."""

WRITERS = ("sp", "sfu", "mem")
"""Write-back ports, highest priority first."""

WRITE_PATHS = (("sp", "sfu"), ("mem",))
"""The writers that share each of the two paths to the banks, highest priority first."""

SIDES = ("right", "left")
"""Accesses that a bank of the coalescing register file takes in one cycle, in order of priority."""


def index_bits(count: int) -> int:
    """Bits of an index below `count`, at least one."""
    return max(1, (count - 1).bit_length())


def place_fields(config: SmConfig) -> Fields:
    """Where a warp register lies: bank, row, and whether it is on the left. The placer tells by the number (with
    `Alignment.REG` of the coalescing register file; otherwise 0); what a collector holds is the side as stored."""
    return [("bank", index_bits(config.banks)), ("row", index_bits(config.rows)), ("left", 1)]


CODE_FIELDS: Fields = [("size", 2), ("sign", 1), ("left", 1)]
"""How the coalescing register file stores a warp register: `size` is its width in bytes less one, `sign` fills the
bytes above in every lane, `left` says that byte k lies in sub-bank 3 - k instead of k."""


ZERO_BITS = 32
"""Bits of a zero mask: one for each lane, or for each byte position of each group of lanes."""

REORDER_BITS = LANES // GROUP
"""R-bits of a warp register: one for each group of lanes."""


class Outcome(IntEnum):
    """What is known of a lane's result before it is computed: nothing, that it is zero, or that it is an operand."""

    COMPUTE, ZERO, A, B, C = range(5)


OUTCOME_BITS = 3

ACTIVITY_FIELDS: Fields = [(name, 40) for name in (
    "sub_bank_reads", "sub_bank_writes", "column_reads", "column_writes", "collector_columns", "operand_columns",
    "lane_loads", "bypass_loads",
)]  # fmt: skip
"""Activity counters, since reset. Sub-banks of which at least a column is enabled, for reading and for writing; columns
enabled; columns of operand registers that are stored, in collectors and behind them; registers of lane stages, and of
the bypasses beside them, that are loaded (docs/timing.md, section 10)."""


def zero_fields(config: SmConfig) -> Fields:
    """What is known to be zero in a warp register: the zero mask, and where groups may be reordered their R-bits."""
    if not config.gating.has_zero_mask:
        return []
    reordered = config.gating is Gating.CROSS_LANE and config.coalescing is Coalescing.OFF
    return [("zero", ZERO_BITS), *([("reorder", REORDER_BITS)] if reordered else [])]


def stored_fields(config: SmConfig) -> Fields:
    """How a warp register is stored, beyond its place: width less one and sign with coalescing, the zero mask with
    gating. An instruction brings those of its destination to write-back, as they were when it issued."""
    code = [("size", 2), ("sign", 1)] if config.coalescing is Coalescing.ON else []
    return [*code, *zero_fields(config)]


def trivial_fields(config: SmConfig) -> Fields:
    """The `Outcome` of each lane at the dispatch port, lane l in bits 3l .. 3l + 2."""
    return [("trivial", OUTCOME_BITS * LANES)] if config.gating.has_zero_mask else []


def issue_fields(config: SmConfig) -> Fields:
    """A decoded warp instruction. `reads` has a bit for each slot that reads a register; a slot that does not is
    zero, or `imm` in slot `imm_slot`. `lanes` are the executing lanes, `pred` the lane mask of the predicate operand
    (after inversion; 0 for an absent carry). `timing` is a `TimingClass`, `pipe` a `Pipe` below CONTROL. `writes` says
    that a register is written (dst is not RZ). `full` says that the executing lanes are all that are still live."""
    return [
        ("tag", TAG_BITS), ("warp", index_bits(config.warps)), ("op", 8), ("modifiers", MODIFIER_BITS),
        ("pipe", 2), ("timing", 5), ("dst", 8), ("writes", 1), ("reads", 3), ("src0", 8), ("src1", 8), ("src2", 8),
        ("imm_slot", 2), ("imm", 32), ("lanes", LANES), ("full", 1), ("pred", LANES),
    ]  # fmt: skip


def dispatch_fields(config: SmConfig) -> Fields:
    """What leaves a collector for its pipe; `collector` is where it waited, `bank`, `row`, `left` and `stored_fields`
    where the destination lies and how it is stored so far."""
    return [
        ("tag", TAG_BITS), ("warp", index_bits(config.warps)), ("op", 8), ("modifiers", MODIFIER_BITS), ("pipe", 2),
        ("timing", 5), ("dst", 8), ("writes", 1), *place_fields(config), *stored_fields(config), ("lanes", LANES),
        ("full", 1), ("pred", LANES), ("collector", index_bits(config.collectors)),
    ]  # fmt: skip


def result_fields(config: SmConfig) -> Fields:
    """A result on its way to write-back, without its data word: fields of the dispatch that come back, and `pred`, the
    predicate result by lane."""
    return [
        ("tag", TAG_BITS), ("writes", 1), *place_fields(config), *stored_fields(config), ("lanes", LANES), ("full", 1),
        ("pred", LANES),
    ]  # fmt: skip


def done_fields(config: SmConfig) -> Fields:
    """A completion: the instruction's tag and its predicate result."""
    return [("tag", TAG_BITS), ("pred", LANES)]


def probe_fields(config: SmConfig) -> Fields:
    """Everything that a lockstep bench compares each cycle, apart from data words.

    For each bank, and with coalescing for each of its `SIDES`: enabled, writing, row, who (collector of a read, writer
    of a write), with coalescing the mask of sub-banks; all 0 when idle. With gating the columns of each bank that are
    enabled. For each collector: busy, slots still waiting
    for a grant, slots with their operand present (both 0 when free). The arbiter's priority diagonal; the dispatch
    (valid, collector, tag; 0 when none); each write-back latch (valid, tag, with coalescing the code that the register
    will have, `CODE_FIELDS`, with a zero mask that and its R-bits, 0 when it writes none) and completion (valid, tag).
    """
    coalescing = config.coalescing is Coalescing.ON
    who = index_bits(max(config.collectors, len(WRITERS)))
    fields: Fields = [("diagonal", index_bits(max(config.banks, config.collectors)))]
    for port in bank_ports(config):
        fields += [(f"{port}_enable", 1), (f"{port}_write", 1), (f"{port}_row", index_bits(config.rows)),
                   (f"{port}_who", who)]
        if coalescing:
            fields.append((f"{port}_mask", SUB_BANKS))
    if config.gating is not Gating.OFF:
        fields += [(f"bank{bank}_columns", COLUMNS) for bank in range(config.banks)]
    for collector in range(config.collectors):
        fields += [(f"collector{collector}_busy", 1), (f"collector{collector}_waiting", 3),
                   (f"collector{collector}_present", 3)]
    fields += [("dispatch_valid", 1), ("dispatch_collector", index_bits(config.collectors)), ("dispatch_tag", TAG_BITS)]
    for writer in WRITERS:
        fields += [(f"{writer}_latch_valid", 1), (f"{writer}_latch_tag", TAG_BITS), (f"{writer}_done_valid", 1),
                   (f"{writer}_done_tag", TAG_BITS)]
        if coalescing:
            fields.append((f"{writer}_latch_code", width(CODE_FIELDS)))
        fields += [(f"{writer}_latch_{name}", bits) for name, bits in zero_fields(config)]
    return fields


def bank_ports(config: SmConfig) -> list[str]:
    """Names of the bank ports in the probe: ``bank0``, or ``bank0_right`` and ``bank0_left`` with coalescing."""
    banks = [f"bank{bank}" for bank in range(config.banks)]
    return [f"{bank}_{side}" for bank in banks for side in SIDES] if config.coalescing is Coalescing.ON else banks


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
