"""Layouts of the ports of bypassing collectors."""

from amaranth.lib import data

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, hint_fields, place_fields, stored_fields
from warploom.rtl.interfaces import struct


def coming_layout(config: SmConfig) -> data.StructLayout:
    """A result that enters its latch in this cycle, if it writes a register of the collector's warp."""
    hint = [field for field in hint_fields(config) if field[0] == "to_collector"]
    return struct([("valid", 1), ("register", 8), *hint])


def delivery_layout() -> data.StructLayout:
    """What the result port of a collector brings: the executing lanes of a result, whether they are `full`, and whether
    they are transient."""
    return struct([("valid", 1), ("register", 8), ("lanes", LANES), ("full", 1), ("transient", 1), ("data", WARP_BITS)])


def form_layout(config: SmConfig) -> data.StructLayout:
    """Where a warp register lies, its side as stored, and how else it is."""
    return struct([*place_fields(config), *stored_fields(config)])


def drop_layout() -> data.StructLayout:
    """A transient value that is dropped: its register, and the lanes that nobody has any more."""
    return struct([("valid", 1), ("register", 8), ("lanes", LANES)])
