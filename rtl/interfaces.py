"""Amaranth shapes of the tables in `warploom.arch.interfaces`, and the streams that carry them."""

from amaranth import signed
from amaranth.lib import data, stream

from warploom.arch import interfaces as tables
from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.fields import Fields


def struct(fields: Fields) -> data.StructLayout:
    """The packed struct of a table, its first field in the least significant bits."""
    return data.StructLayout(dict(fields))


SOURCES = ("src0", "src1", "src2")
"""Fields of the issue port that name the register of each slot."""

SLOTS = len(SOURCES)
"""Maximum operands of an instruction."""

REGISTERS = SLOTS + 1
"""Registers that an instruction names: its sources and, last, its destination."""

ENCODING = struct(tables.ENCODING_FIELDS)
"""The encoding of a warp register in the coalescing register file."""

DECODED = data.StructLayout({"stored": SUB_BANKS, "sign": 1, "left": 1})
"""An encoding for an operand path, which has no time to decode the width: the bytes of a lane that are stored."""


def address_layout(config: SmConfig) -> data.StructLayout:
    """The physical address of a warp register."""
    return struct(tables.address_fields(config))


COMPACT = data.StructLayout({"base": 32, "stride": signed(STRIDE_BITS)})
"""A warp register in compact form: lane l is base + l * stride."""

COMPACT_SLOTS = data.StructLayout({"compact": SLOTS, "values": data.ArrayLayout(COMPACT, SLOTS)})
"""The compact slots of an instruction, and their base and stride; unspecified for the others."""

MULTIPLES = (3, 5, 7)
"""The multiples of a stride that lanes need and that take an adder."""

PREPARED = data.StructLayout({"base": 32, "stride": signed(STRIDE_BITS)}
                             | {f"times_{count}": signed(STRIDE_BITS + 3) for count in MULTIPLES})
"""A warp register in compact form, to be expanded: with multiples of its stride."""

PREPARED_SLOTS = data.StructLayout({"compact": SLOTS, "values": data.ArrayLayout(PREPARED, SLOTS)})
"""`COMPACT_SLOTS` of an instruction that may be dispatched."""

UNIFORM = struct(tables.UNIFORM_FIELDS)
"""An operation of the uniform unit."""

UNIFORM_RESULT = struct(tables.UNIFORM_RESULT_FIELDS)
"""Result of the uniform unit."""


def attempt_layout(config: SmConfig) -> data.StructLayout:
    """An instruction that is to execute in the affine unit."""
    return struct(tables.attempt_fields(config))


def outcome_layout(config: SmConfig) -> data.StructLayout:
    """The outcome of an attempt."""
    return struct(tables.outcome_fields(config))


def lookup_layout(config: SmConfig) -> data.StructLayout:
    """The registers of an instruction that issues into the datapath, for its warp's set of the affine register file:
    fields of the issue port."""
    names = ("warp", "reads", "src0", "src1", "src2", "dst", "writes", "compact")
    return struct([field for field in tables.issue_fields(config) if field[0] in names])


def words(count: int) -> data.ArrayLayout:
    """`count` warp registers of 1024 bits."""
    return data.ArrayLayout(tables.WARP_BITS, count)


def column_masks(count: int) -> data.ArrayLayout:
    """`count` masks of the columns of a warp register."""
    return data.ArrayLayout(COLUMNS, count)


def issue_layout(config: SmConfig) -> data.StructLayout:
    """A decoded warp instruction."""
    return struct(tables.issue_fields(config))


def zero_layout(config: SmConfig) -> data.StructLayout:
    """The zero mask, and R-bits, of a warp register."""
    return struct(tables.zero_fields(config))


def stored_layout(config: SmConfig) -> data.StructLayout:
    """The metadata of a warp register."""
    return struct(tables.stored_fields(config))


def held_layout(config: SmConfig) -> data.StructLayout:
    """The fields of an instruction in a collector, without its operands."""
    return struct([field for field in tables.dispatch_fields(config) if field[0] != "collector"])


def dispatch_layout(config: SmConfig) -> data.StructLayout:
    """An instruction that is sent to a pipe, with its operand words a, b and c in the highest bits."""
    return struct([*tables.dispatch_fields(config), *((slot, tables.WARP_BITS) for slot in "abc")])


def sent_layout(config: SmConfig) -> data.StructLayout:
    """The datapath's dispatch port: the same, and with a zero mask the outcomes of its lanes in the highest bits."""
    return struct([*tables.dispatch_fields(config), *((slot, tables.WARP_BITS) for slot in "abc"),
                   *tables.trivial_fields(config)])


def result_layout(config: SmConfig) -> data.StructLayout:
    """A result for write-back, with its data word in the highest bits."""
    return struct([*tables.result_fields(config), ("data", tables.WARP_BITS)])


def eviction_layout(config: SmConfig) -> data.StructLayout:
    """A register that leaves a bypassing collector, of which `lanes` are to be written."""
    return struct(tables.eviction_fields(config))


def coming_layout(config: SmConfig) -> data.StructLayout:
    """A result at the input of its latch, if it writes a register of the collector's warp."""
    return struct(tables.coming_fields(config))


def delivery_layout() -> data.StructLayout:
    """The result port of a collector."""
    return struct(tables.DELIVERY_FIELDS)


def activity_layout() -> data.StructLayout:
    """The activity counters."""
    return struct(tables.ACTIVITY_FIELDS)


def done_layout(config: SmConfig) -> data.StructLayout:
    """A completion."""
    return struct(tables.done_fields(config))


def unstoppable(layout: data.Layout) -> stream.Signature:
    """A stream whose receiver may not stall: it has no ready."""
    return stream.Signature(layout, always_ready=True)
