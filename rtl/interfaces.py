"""Amaranth shapes of the tables in `warploom.arch.interfaces`, and the streams that carry them."""

from amaranth.lib import data, stream

from warploom.arch import interfaces as tables
from warploom.arch.config import COLUMNS, SmConfig


def struct(fields: tables.Fields) -> data.StructLayout:
    """The packed struct of a table, its first field in the least significant bits."""
    return data.StructLayout(dict(fields))


CODE = struct(tables.CODE_FIELDS)
"""How the coalescing register file stores a warp register."""


def place_layout(config: SmConfig) -> data.StructLayout:
    """Where a warp register lies."""
    return struct(tables.place_fields(config))


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
    """What is known to be zero in a warp register."""
    return struct(tables.zero_fields(config))


def stored_layout(config: SmConfig) -> data.StructLayout:
    """How a warp register is stored, beyond its place."""
    return struct(tables.stored_fields(config))


def held_layout(config: SmConfig) -> data.StructLayout:
    """What a collector keeps of an instruction until dispatch, apart from its operands."""
    return struct([field for field in tables.dispatch_fields(config) if field[0] != "collector"])


def dispatch_layout(config: SmConfig) -> data.StructLayout:
    """An instruction on its way to a pipe, with its operand words a, b and c on top."""
    return struct([*tables.dispatch_fields(config), *((slot, tables.WARP_BITS) for slot in "abc")])


def sent_layout(config: SmConfig) -> data.StructLayout:
    """What the datapath's dispatch port shows: the same, and with a zero mask the outcomes of its lanes on top."""
    return struct([*tables.dispatch_fields(config), *((slot, tables.WARP_BITS) for slot in "abc"),
                   *tables.trivial_fields(config)])


def result_layout(config: SmConfig) -> data.StructLayout:
    """A result on its way to write-back, with its data word on top."""
    return struct([*tables.result_fields(config), ("data", tables.WARP_BITS)])


def activity_layout() -> data.StructLayout:
    """The activity counters."""
    return struct(tables.ACTIVITY_FIELDS)


def done_layout(config: SmConfig) -> data.StructLayout:
    """A completion."""
    return struct(tables.done_fields(config))


def probe_layout(config: SmConfig) -> data.StructLayout:
    """Everything that a lockstep bench compares each cycle."""
    return struct(tables.probe_fields(config))


def unstoppable(layout: data.Layout) -> stream.Signature:
    """A stream whose receiver may not stall: it has no ready."""
    return stream.Signature(layout, always_ready=True)
