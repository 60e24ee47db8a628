"""Sizes, operations and fields of the engine's L1 (docs/contract/l1.md): the source of the hardware's structs."""

from enum import IntEnum

from warploom.arch.fg_simt.sizes import EIGHT_LANES
from warploom.arch.fields import Fields

ADDRESS_BITS = 32
WORD_BITS = 32
LINE_BYTES = 32
LINE_BITS = 8 * LINE_BYTES
OFFSET_BITS = 5
"""Bits of the byte in a line."""

LANES = EIGHT_LANES.lanes
"""Lanes of the engine, unless it has fewer. The data cache has a bank for each."""

LINES = 512
"""Lines of a bank, and of the instruction cache: 16 KB."""

BEAT_BITS = 64
"""Data of one transfer of the bus."""

ID_BITS = 4

RESPONSES = 3
"""Entries of the response queue of a bank."""

REQUESTS = 2
"""Entries of the request queue of a port."""

SLOTS = 8
"""Requests of a port that may be in the banks, or wait there to be answered."""


class Operation(IntEnum):
    """What a request does. All but READ and WRITE are atomics on a word of 32 bits."""

    READ, WRITE, ADD, MIN, MAX, UMIN, UMAX, AND, OR, XOR, EXCH, CAS = range(12)

    @property
    def is_atomic(self) -> bool:
        """Whether it reads and writes."""
        return self > Operation.WRITE


OPERATION_BITS = 4

NARROW_FIELDS: Fields = [
    ("address", ADDRESS_BITS), ("operation", OPERATION_BITS), ("mask", WORD_BITS // 8), ("data", WORD_BITS),
    ("compare", WORD_BITS)]
"""A request of a narrow port."""

WIDE_FIELDS: Fields = [
    ("address", ADDRESS_BITS), ("operation", OPERATION_BITS), ("mask", LINE_BYTES), ("data", LINE_BITS)]
"""A request of the wide port."""


FETCH_WORD_BITS = (32, 64, 128)
"""Legal widths of a word of the instruction cache."""

FETCH_FIELDS: Fields = [("address", ADDRESS_BITS)]
"""A request to the instruction cache."""


def response_fields(bits: int) -> Fields:
    """An answer of so many bits of data."""
    return [("data", bits), ("error", 1)]


def tagged(fields: Fields, tag_bits: int) -> Fields:
    """A request to a bank, or its answer, which repeats the tag."""
    return [*fields, ("tag", tag_bits)] if tag_bits else fields


BANK_FIELDS: Fields = [*WIDE_FIELDS, ("wide", 1)]
"""A request to a bank of the data cache. Narrow ones have `compare` above `data` in the field `data`."""

SLOT_BITS = (SLOTS - 1).bit_length()


def narrow_ports(lanes: int) -> int:
    """Narrow ports of the data cache: those of the lanes, and then of the control processor. The wide port has the next
    number."""
    return lanes + 1


def masters(lanes: int) -> int:
    """Memory ports that share the bus: those of the data cache, and then of the instruction cache."""
    return lanes + 1


def tag_fields(lanes: int) -> Fields:
    """The tag of a request to a bank of the data cache."""
    return [("slot", SLOT_BITS), ("port", narrow_ports(lanes).bit_length())]


def tag_bits(lanes: int) -> int:
    """Its width."""
    return sum(bits for _, bits in tag_fields(lanes))
