"""Structs between the memory unit and the parts around it (docs/contract/fg_simt.md, *Memory unit*)."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES as THREADS
from warploom.arch.fg_simt.sizes import GROUP_BITS, LANES, SLWQ_ENTRIES
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
PLACE_BITS = LOAD_BITS + GROUP_BITS
"""Width of the number of a place in an SLDQ: the entry of the SLWQ, and below it the group."""

WORDS = data.ArrayLayout(WORD_BITS, LANES)
"""A word of each lane."""

ADDRESSES = data.ArrayLayout(ADDRESS_BITS, LANES)

ISSUED = data.StructLayout({"loads": 1, "vector": 1, "entry": LOAD_BITS})
"""A memory instruction that issues, from the SIU: `loads` if it returns data, and then its entry of the SLWQ; `vector`
if it is a vector load, with one row instead of four."""

INSTRUCTION = data.StructLayout({
    "operation": OPERATION_BITS, "size": SIZE_BITS, "loads": 1, "vector": 1, "last": 1, "place": PLACE_BITS,
    "pc": PC_BITS})
"""What a row says of its instruction: READ, WRITE or an atomic of the L1, the bytes of a lane's access as logarithm,
`loads` and `vector` as in `ISSUED`, whether it is the last row, its place in the SLDQs, and the PC."""

ROW = data.StructLayout({"instruction": INSTRUCTION, "execute": LANES, "address": ADDRESSES, "data": WORDS})
"""A row of the SMRQ: the executing lanes, and the address and data of each. Of a vector load lane 0 executes, with the
address of thread 0 and the mask of threads as data."""

COMPARED = data.StructLayout({"row": ROW, "narrow": 1, "wide": 1, "consecutive": 1, "line": ADDRESS_BITS})
"""A row with its coalescing decision: over ports of which width it is sent, none without executing lanes; the address
of the line, if wide; whether its addresses are consecutive, if they are in one line."""

ARRIVING = data.StructLayout({"row": ROW, "cause": data.ArrayLayout(CAUSE_BITS, LANES)})
"""A row from SGU and SSU, and the cause of a fault of each executing lane, 0 for none."""

FAULT = data.StructLayout({"cause": CAUSE_BITS, "pc": PC_BITS})
"""Why and at which instruction a kernel is to stop; cause 0 for no fault."""

PORTS = LANES + 1
"""Ports to memory; the last one is the wide one."""

SENT = data.StructLayout({
    "instruction": INSTRUCTION, "execute": LANES, "narrow": 1, "wide": 1, "ports": PORTS, "writes": 1,
    "offset": data.ArrayLayout(OFFSET_BITS, LANES), "threads": THREADS, "first": THREAD_BITS})
"""A row that begins, or a line of a vector load: its executing lanes, the width of the ports that answer, these
ports, the byte of each lane's address in its line, and for a vector load the threads of the line, and the first of
them."""


def lane_requests() -> dict[str, wiring.Member]:
    """Streams of requests of the lanes, and of the wide port."""
    return {"narrow": Out(request_stream(NARROW_FIELDS)).array(LANES), "wide": Out(request_stream(WIDE_FIELDS))}


def lane_responses() -> dict[str, wiring.Member]:
    """Streams of their answers."""
    return {"narrow_response": In(request_stream(response_fields(WORD_BITS))).array(LANES),
            "wide_response": In(request_stream(response_fields(LINE_BITS)))}
