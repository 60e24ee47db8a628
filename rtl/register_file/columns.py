"""Masks of columns and of bytes: the enabled parts of a row."""

from amaranth import Cat, Module, Signal, Value

from warploom.arch.config import COLUMNS, GROUP, LANES, SUB_BANKS
from warploom.arch.interfaces import WARP_BITS

BYTES = WARP_BITS // 8
COLUMN_BYTES = BYTES // COLUMNS


def columns_of(mask: Value) -> Value:
    """The columns of sub-banks."""
    return Cat(used.replicate(COLUMNS // SUB_BANKS) for used in mask)


def bytes_of(columns: Value) -> Value:
    """All bytes of the columns of a mask."""
    return Cat(columns[i].replicate(COLUMN_BYTES) for i in range(COLUMNS))


def groups(lanes: Value) -> Value:
    """The groups that have some lane of a mask."""
    return Cat(lanes.word_select(g, GROUP).any() for g in range(LANES // GROUP))


def written_columns(byte_enable: Value) -> Value:
    """The columns in which a byte is written."""
    return Cat(byte_enable.word_select(column, COLUMN_BYTES).any() for column in range(COLUMNS))


def byte_enables(m: Module, number: int, written: Value) -> Signal:
    """The byte enables of a write path, by its number."""
    enable = Signal(BYTES, name=f"byte_enable_{number}")
    m.d.comb += enable.eq(written)
    return enable
