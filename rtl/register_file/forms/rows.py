"""Positions of the bytes of a warp register in its row: the whole row, or as many sub-banks as needed from one side."""

from typing import Protocol

from amaranth import Cat, Const, Value
from amaranth.lib import data

from warploom.arch.config import LANES, SUB_BANKS
from warploom.rtl.byte_order import bytes_below, swap
from warploom.rtl.register_file.columns import groups

Metadata = data.View | None
"""The early or the late part of a register's metadata; None if there is none."""


class Row(Protocol):
    """The positions of the bytes of a warp register."""

    def is_on(self, side: int, early: Metadata) -> Value:
        """Whether this access of its bank reads a register."""

    def parts(self, early: Metadata) -> Value:
        """The parts (of equal size) of a row that a register uses."""

    def constant(self, value: Value) -> Value:
        """The row whose lanes all hold a 32-bit value."""

    def constant_columns(self, lanes: Value) -> Value:
        """The columns of such a row that some of these lanes read."""


class WholeRow:
    """Byte-interleaved words, each in a whole row."""

    def is_on(self, side: int, early: Metadata) -> Value:
        """See `Row`, here and below."""
        return Const(1, 1)

    def parts(self, early: Metadata) -> Value:
        return Const(1, 1)

    def constant(self, value: Value) -> Value:
        return value.replicate(LANES)

    def constant_columns(self, lanes: Value) -> Value:
        return lanes


class SidedRow:
    """Words in sub-bank form, each in as many sub-banks as it has bytes, from the right or from the left."""

    def is_on(self, side: int, early: data.View) -> Value:
        """See `Row`, here and below."""
        return early.left == side

    def parts(self, early: data.View) -> Value:
        return swap(bytes_below(early.size), early.left)

    def constant(self, value: Value) -> Value:
        return Cat(value.word_select(number, 8).replicate(LANES) for number in range(SUB_BANKS))

    def constant_columns(self, lanes: Value) -> Value:
        return groups(lanes).replicate(SUB_BANKS)
