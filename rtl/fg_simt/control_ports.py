"""Structs and ports of the control processor (docs/contract/fg_simt.md, *Control processor*)."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.l1 import NARROW_FIELDS, WORD_BITS, response_fields
from warploom.rtl.l1.ports import request_stream

LAUNCH_BLOCK = data.StructLayout(dict.fromkeys(LaunchBlock._fields, WORD_BITS))
"""The words of a launch block, which are the state of a kernel."""


def cp_port() -> dict[str, wiring.Member]:
    """The control processor's port to the data cache, as streams of requests and answers."""
    return {"request": Out(request_stream(NARROW_FIELDS)),
            "response": In(request_stream(response_fields(WORD_BITS)))}
