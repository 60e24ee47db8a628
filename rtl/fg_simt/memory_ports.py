"""Structs between the memory unit and the parts around it (docs/contract/fg_simt.md, *Memory unit*)."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES as THREADS
from warploom.arch.fg_simt.sizes import SLWQ_ENTRIES, Sizes
from warploom.arch.isa import PC_BITS
from warploom.arch.l1 import (
    ADDRESS_BITS,
    LINE_BITS,
    NARROW_FIELDS,
    OFFSET_BITS,
    OPERATION_BITS,
    WIDE_FIELDS,
    WORD_BITS,
    response_fields,
)
from warploom.rtl.fg_simt.coalesce import SIZE_BITS
from warploom.rtl.l1.ports import request_stream

CAUSE_BITS = 3
LOAD_BITS = (SLWQ_ENTRIES - 1).bit_length()
THREAD_BITS = (THREADS - 1).bit_length()

ISSUED = data.StructLayout({"loads": 1, "vector": 1, "entry": LOAD_BITS})
"""A memory instruction that issues, from the SIU: `loads` if it returns data, and then its entry of the SLWQ; `vector`
if it is a vector load, with one row instead of one for each group."""

FAULT = data.StructLayout({"cause": CAUSE_BITS, "pc": PC_BITS})
"""Why and at which instruction a kernel is to stop; cause 0 for no fault."""


def words(sizes: Sizes) -> data.ArrayLayout:
    """A word of each lane."""
    return data.ArrayLayout(WORD_BITS, sizes.lanes)


def place_bits(sizes: Sizes) -> int:
    """Width of the number of a place in an SLDQ: the entry of the SLWQ, and below it the group."""
    return LOAD_BITS + sizes.group_bits


def instruction(sizes: Sizes) -> data.StructLayout:
    """What a row says of its instruction: READ, WRITE or an atomic of the L1, the bytes of a lane's access as
    logarithm, `loads` and `vector` as in `ISSUED`, whether it is the last row, its place in the SLDQs, and the PC."""
    return data.StructLayout({
        "operation": OPERATION_BITS, "size": SIZE_BITS, "loads": 1, "vector": 1, "last": 1, "place": place_bits(sizes),
        "pc": PC_BITS})


def row(sizes: Sizes) -> data.StructLayout:
    """A row of the SMRQ: the executing lanes, and the address and data of each. Of a vector load lane 0 executes, with
    the address of thread 0 and the mask of threads as data."""
    return data.StructLayout({
        "instruction": instruction(sizes), "execute": sizes.lanes,
        "address": data.ArrayLayout(ADDRESS_BITS, sizes.lanes), "data": words(sizes)})


def compared(sizes: Sizes) -> data.StructLayout:
    """A row with its coalescing decision: over ports of which width it is sent, none without executing lanes; the
    address of the line, if wide; whether its addresses are consecutive, if they are in one line."""
    return data.StructLayout({"row": row(sizes), "narrow": 1, "wide": 1, "consecutive": 1, "line": ADDRESS_BITS})


def arriving(sizes: Sizes) -> data.StructLayout:
    """A row from SGU and SSU, and the cause of a fault of each executing lane, 0 for none."""
    return data.StructLayout({"row": row(sizes), "cause": data.ArrayLayout(CAUSE_BITS, sizes.lanes)})


def lane_ports(sizes: Sizes) -> int:
    """The number of ports to memory of the lanes; the last one is the wide one."""
    return sizes.lanes + 1


def sent(sizes: Sizes) -> data.StructLayout:
    """A row that begins, or a line of a vector load: its executing lanes, the width of the ports that answer, these
    ports, the byte of each lane's address in its line, and for a vector load the threads of the line, and the first of
    them."""
    return data.StructLayout({
        "instruction": instruction(sizes), "execute": sizes.lanes, "narrow": 1, "wide": 1, "ports": lane_ports(sizes),
        "writes": 1, "offset": data.ArrayLayout(OFFSET_BITS, sizes.lanes), "threads": THREADS, "first": THREAD_BITS})


def lane_requests(sizes: Sizes) -> dict[str, wiring.Member]:
    """Streams of requests of the lanes, and of the wide port."""
    return {"narrow": Out(request_stream(NARROW_FIELDS)).array(sizes.lanes), "wide": Out(request_stream(WIDE_FIELDS))}


def lane_responses(sizes: Sizes) -> dict[str, wiring.Member]:
    """Streams of their answers."""
    return {"narrow_response": In(request_stream(response_fields(WORD_BITS))).array(sizes.lanes),
            "wide_response": In(request_stream(response_fields(LINE_BITS)))}
