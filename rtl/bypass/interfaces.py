"""Layouts of the ports of bypassing collectors."""

from amaranth.lib import data

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import address_fields, stored_fields
from warploom.rtl import ports
from warploom.rtl.interfaces import struct


def form_layout(config: SmConfig) -> data.StructLayout:
    """The physical address of a warp register, its stored side, and its other metadata."""
    return struct([*address_fields(config), *stored_fields(config)])


def request_layout(config: SmConfig) -> data.StructLayout:
    """A request of a window: its entry, its ports at the banks and, with sides, its sub-banks."""
    read = ports.single_read(config).members
    named = {name: read[name].shape for name in ("request", "mask") if name in read}
    return data.StructLayout({"entry": config.entries, **named})


def drop_layout() -> data.StructLayout:
    """A transient value that is dropped: its register, and the lanes whose only copy it was."""
    return struct([("valid", 1), ("register", 8), ("lanes", LANES)])
