"""Fields of the datapath's ports, as tables: the source of the hardware's structs and of the benches' codecs.

`docs/contract/` defines the cycle in which each port is valid.
"""

from enum import IntEnum

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import COLUMNS, GROUP, LANES, SUB_BANKS, SmConfig
from warploom.arch.encoding import MODIFIER_BITS
from warploom.arch.fields import Fields, index_bits
from warploom.arch.layout import metadata_rows
from warploom.arch.mechanisms import MECHANISMS, met

TAG_BITS = 10
"""Tags name instructions in flight; the front end assigns them in turn."""

GROUP_BITS = 10
"""A group of warps (docs/contract/locality.md)."""

BLOCK_BITS, CHUNK_BITS = 31, 6
"""The linear index of a block, and the blocks of a chunk, at most 32."""

WARP_BITS = LANES * 32
"""Bits of a warp register."""

SIDES = ("right", "left")
"""Accesses that a bank of the coalescing register file takes in one cycle, in order of priority."""

BANK_PORTS = ("read", "write")
"""The ports of a bank that has two."""


def pipe_bits(config: SmConfig) -> int:
    """Bits of the number of a pipe."""
    return max(2, index_bits(len(config.pipes)))


def _added(table: str, config: SmConfig) -> Fields:
    """The fields that the mechanisms of a configuration add to a table; several may need the same field."""
    added = {field.name: field.bits or index_bits(getattr(config, field.counts))
             for mechanism in MECHANISMS for field in mechanism.fields
             if field.table == table and met(field.needs, config)}
    return list(added.items())


def address_fields(config: SmConfig) -> Fields:
    """The physical address of a warp register: bank, row, and whether it is on the left. The placer's `left` follows
    from the register number (with `Alignment.REG` of the coalescing register file; otherwise 0); a collector's is the
    stored side. If metadata tables are divided, also group and entry of its metadata."""
    fields = [("bank", index_bits(config.banks)), ("row", index_bits(config.rows)), ("left", 1)]
    if config.divides_metadata:
        fields += [("group", index_bits(config.issue_ports)), ("entry", index_bits(metadata_rows(config)))]
    return fields


def issue_names(config: SmConfig) -> list[str]:
    """The issue inputs, by name."""
    return ["issue"] if config.issue_inputs == 1 else [f"issue_{number}" for number in range(config.issue_inputs)]


def address_names(config: SmConfig) -> list[str]:
    """The names of the address slots in the probe, one for each issue port."""
    return ["address"] if config.address_slots == 1 else [f"address{port}" for port in range(config.address_slots)]


ENCODING_FIELDS: Fields = [("size", 2), ("sign", 1), ("left", 1)]
"""The encoding of a warp register in the coalescing register file: `size` is its width in bytes less one, `sign` fills
the bytes above in every lane, and with `left` byte k is in sub-bank 3 - k instead of k."""


ZERO_BITS = 32
"""Bits of a zero mask: one for each lane, or for each byte position of each group of lanes."""

REORDER_BITS = LANES // GROUP
"""R-bits of a warp register: one for each group of lanes."""


class Outcome(IntEnum):
    """The result of a lane, if known before it is computed: zero or an operand; otherwise COMPUTE."""

    COMPUTE, ZERO, A, B, C = range(5)


OUTCOME_BITS = 3

ACTIVITY_FIELDS: Fields = [(name, 40) for name in (
    "sub_bank_reads", "sub_bank_writes", "column_reads", "column_writes", "collector_columns", "operand_columns",
    "lane_loads", "bypass_loads",
)]
"""Activity counters, since reset: sub-banks with at least one enabled column, for reading and for writing; enabled
columns; stored columns of operand registers, in collectors and behind them; loaded registers of lane stages and of
their bypasses (docs/contract/counting.md)."""


def early_fields(config: SmConfig) -> Fields:
    """The metadata of a warp register that are valid in the cycle of the look-up: with sides, the encoding."""
    return ENCODING_FIELDS if config.has_sides else []


def zero_fields(config: SmConfig) -> Fields:
    """The zero mask of a warp register and, if groups may be reordered, its R-bits."""
    return _added("zero", config)


def stored_fields(config: SmConfig) -> Fields:
    """The metadata of a warp register: width less one and sign with coalescing, the zero mask with gating. An
    instruction carries those of its destination, looked up at issue, to write-back."""
    return [*_added("encoding", config), *zero_fields(config)]


def hint_fields(config: SmConfig) -> Fields:
    """The compiler's hints for a destination: whether the collector needs its value, and whether the register file
    does."""
    return _added("hints", config)


def read_fields(config: SmConfig) -> Fields:
    """A collector's request to a bank: a row, with sides its sub-banks, if columns are enabled one by one the needed
    ones, and with renaming whether the row is released."""
    mask = [("mask", SUB_BANKS)] if config.has_sides else []
    release = [("release", 1)] if config.renames else []
    return [("row", index_bits(config.rows)), *mask, *([("columns", COLUMNS)] if config.gates_columns else []),
            *release]


def write_fields(config: SmConfig) -> Fields:
    """A write to a bank: whether there is one, its row, and with sides its sub-banks."""
    return [("enable", 1), ("row", index_bits(config.rows)), *([("mask", SUB_BANKS)] if config.has_sides else [])]


def coming_fields(config: SmConfig) -> Fields:
    """With windows, a result at the input of its latch, if it writes a register of a collector's warp."""
    return [("valid", 1), ("register", 8), *(field for field in hint_fields(config) if field[0] == "to_collector")]


DELIVERY_FIELDS: Fields = [
    ("valid", 1), ("register", 8), ("lanes", LANES), ("full", 1), ("transient", 1), ("data", WARP_BITS),
]
"""The result port of a window collector: the executing lanes of a result, whether they are `full`, and whether they are
transient."""


def eviction_fields(config: SmConfig) -> Fields:
    """A register that leaves a window collector: `lanes` of it are to be written."""
    return [*address_fields(config), *stored_fields(config), ("lanes", LANES), ("full", 1), ("data", WARP_BITS)]


def trivial_fields(config: SmConfig) -> Fields:
    """The `Outcome` of each lane at the dispatch port, lane l in bits 3l .. 3l + 2."""
    return _added("trivial", config)


COMPACT_FIELDS: Fields = [("base", 32), ("stride", STRIDE_BITS)]
"""A warp register in compact form: lane l is (base + l * stride) modulo 2^32, the stride signed."""

def attempt_fields(config: SmConfig) -> Fields:
    """An attempt of the affine unit: fields of the issue port; `writes_predicate`: it has a predicate result (pdst is
    not PT); `step` is the stride (0 or 1) of the special register of an S2R, whose base is `imm`. For an LD operand c
    is the offset (`imm_slot` 2)."""
    left_out = ("tag", "pipe", "timing", "full", "first", "aside", "compact", "to_collector", "to_file")
    return [*(field for field in issue_fields(config) if field[0] not in left_out), ("writes_predicate", 1),
            ("step", 1)]


def outcome_fields(config: SmConfig) -> Fields:
    """The outcome of an attempt: its warp, whether the affine unit executed it (otherwise nothing has changed, and the
    instruction goes to the datapath), and the predicate result by executing lane, 0 if it did not."""
    return [("warp", index_bits(config.warps)), ("accepted", 1), ("pred", LANES)]


UNIFORM_FIELDS: Fields = [("op", 8), ("modifiers", MODIFIER_BITS), ("a", 32), ("b", 32), ("c", 32)]
"""An operation of the uniform unit, floating point or a load, in the cycle after its attempt."""

UNIFORM_RESULT_FIELDS: Fields = [("value", 32), ("holds", 1)]
"""The uniform unit's result, in the cycle before the outcome: the word, or whether the comparison or property holds."""


def issue_fields(config: SmConfig) -> Fields:
    """A decoded warp instruction. `reads` has a bit for each slot that reads a register; a slot that does not is zero,
    or `imm` in slot `imm_slot`. `lanes` are the executing lanes, `pred` the lane mask of the predicate operand (after
    inversion; 0 for an absent carry). `timing` is a `TimingClass`, `pipe` the number of the pipe that executes it
    (`SmConfig.serving`). `writes`: a register is written (dst is not RZ). `full`: the executing lanes are all that are
    still live. With a window `first` marks the first instruction of a warp that is new in its slot. With hints and the
    affine unit `aside` marks an expansion, which does not count in the window. With the affine unit `compact` has a bit
    for each slot that reads a compact register."""
    return [
        ("tag", TAG_BITS), ("warp", index_bits(config.warps)), ("op", 8), ("modifiers", MODIFIER_BITS),
        ("pipe", pipe_bits(config)), ("timing", 5), ("dst", 8), ("writes", 1), ("reads", 3), ("src0", 8), ("src1", 8),
        ("src2", 8), ("imm_slot", 2), ("imm", 32), ("lanes", LANES), ("full", 1), ("pred", LANES),
        *_added("issue", config), *hint_fields(config),
    ]


def dispatch_fields(config: SmConfig) -> Fields:
    """An instruction that leaves a collector for its pipe; `collector` is its holder (address slots last), `bank`,
    `row`, `left` and `stored_fields` are the address and the present metadata of its destination."""
    return [
        ("tag", TAG_BITS), ("warp", index_bits(config.warps)), ("op", 8), ("modifiers", MODIFIER_BITS),
        ("pipe", pipe_bits(config)), ("timing", 5), ("dst", 8), ("writes", 1), *address_fields(config),
        *stored_fields(config), ("lanes", LANES), ("full", 1), ("pred", LANES),
        ("collector", index_bits(config.holders)), *hint_fields(config),
    ]


def result_fields(config: SmConfig) -> Fields:
    """A result for write-back, without its data word: fields of the dispatch that come back, and `pred`, the predicate
    result by lane."""
    return [
        ("tag", TAG_BITS), ("writes", 1), *address_fields(config), *stored_fields(config), ("lanes", LANES),
        ("full", 1), ("pred", LANES), *_added("result", config), *hint_fields(config),
    ]


def done_fields(config: SmConfig) -> Fields:
    """A completion: the instruction's tag and its predicate result."""
    return [("tag", TAG_BITS), ("pred", LANES)]


FREE_BITS = 3
"""Bits of a warp's `free_entries` at the port of a datapath with windows: 0 if the warp may not issue, otherwise one
more than the registers that its next instruction may read, at most 4."""
