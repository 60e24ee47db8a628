"""Amaranth shapes of the tables in `warploom.arch.order_hints`."""

from amaranth import signed
from amaranth.lib import data

from warploom.arch.order_hints import (
    BRANCH_BITS,
    BRANCH_HINT_FIELDS,
    COLLECTED,
    ENTRY_FIELDS,
    FOLLOWING_FIELDS,
    HINT_FIELDS,
    LEADS_BITS,
    NEXT_FIELDS,
    OPERANDS_FIELDS,
    STACK_FIELDS,
    TARGET_BITS,
)
from warploom.rtl.interfaces import struct

HINT = struct(HINT_FIELDS)
BRANCH_HINT = struct(BRANCH_HINT_FIELDS)

HELD = struct([field for field in ENTRY_FIELDS if field[0] not in ("ready", "valid")])
"""An entry of a result collection unit, without the bits that change while it is there."""

ENTRY = struct(ENTRY_FIELDS)

COLLECTION = data.ArrayLayout(ENTRY, COLLECTED)
"""The result collection unit of a warp."""

NEXT = struct(NEXT_FIELDS)
STACK = struct(STACK_FIELDS)
FOLLOWING = struct(FOLLOWING_FIELDS)
OPERANDS = struct(OPERANDS_FIELDS)

OFFSET = signed(TARGET_BITS)
TARGET = signed(BRANCH_BITS)
LEADS = signed(LEADS_BITS)

JOIN = signed(TARGET_BITS + 1)
"""The offset of a reconvergence point; of one that is out of reach, the offset next to those that can be reached."""
