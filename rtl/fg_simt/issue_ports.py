"""What the issue unit takes and gives (docs/contract/fg_simt.md, *Issue unit*)."""

from amaranth import ShapeLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS, SLWQ_ENTRIES, Sizes
from warploom.arch.isa import PC_BITS

LATENCY_BITS = 3
SOURCES = 3
SAUS = 2
LONGEST = 5
"""The longest latency that is known at issue."""

SRF_CLAIMS = LONGEST + 3
"""Cycles of the SRF that may be claimed, from the next one on."""

PLACE = range(SLWQ_ENTRIES)
"""An entry of the SLWQ, and so the places of its load in the SLDQs."""

REGISTER = data.StructLayout({"number": range(REGISTERS), "valid": 1})
"""A register, if any."""

PREDICATE = data.StructLayout({"number": range(PREDICATES), "valid": 1})
"""A predicate, if any."""


def operation(payload: ShapeLike) -> data.StructLayout:
    """What lanes and SMU execute.

    pc, mask : of the instruction; its active lanes.
    sources : registers that are read, in the order of operands.
    destination, predicate : what is written.
    payload : the rest, which the issue unit does not look at.
    """
    return data.StructLayout({"pc": PC_BITS, "mask": 32, "sources": data.ArrayLayout(REGISTER, SOURCES),
                              "destination": REGISTER, "predicate": PREDICATE, "payload": payload})


def micro(payload: ShapeLike, extension: ShapeLike) -> data.StructLayout:
    """An operation that the CP sends.

    saus : the SAUs that can execute it, SAU0 in bit 0; none: it goes to the SGU.
    latency : of what the SAUs execute 1, 3 or 5. 5 of a division, 1 of an access.
    divide, collect, load, vector : it is a division; a collect; writes a register with data from memory; is a vector
        load. Divisions and loads write no predicate.
    predicates : all predicates that are read.
    operation : for lanes and SMU.
    extension : of a load, how its bytes become a word: all that the SLU needs beside the register.
    """
    return data.StructLayout({
        "saus": SAUS, "latency": LATENCY_BITS, "divide": 1, "collect": 1, "load": 1, "vector": 1,
        "predicates": PREDICATES, "operation": operation(payload), "extension": extension})


def access(payload: ShapeLike) -> data.StructLayout:
    """An operation of SGU and SSU; `place` is that of a load."""
    return data.StructLayout({"operation": operation(payload), "load": 1, "vector": 1, "place": PLACE})


def write_back(extension: ShapeLike) -> data.StructLayout:
    """An operation of the SLU: the register of a load gets what is at its place in the SLDQs."""
    return data.StructLayout({"destination": REGISTER, "place": PLACE, "extension": extension})


def reading(layout: ShapeLike, sizes: Sizes) -> wiring.Signature:
    """To a unit: the group, if any, that reads its operands in this cycle, and the operation."""
    return wiring.Signature({"valid": Out(1), "group": Out(range(sizes.groups)), "operation": Out(layout)})


def port_claims(sizes: Sizes) -> int:
    """Cycles of a write port that may be claimed, from the next one on."""
    return LONGEST + 1 + sizes.groups
