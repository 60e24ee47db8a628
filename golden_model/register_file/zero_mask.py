"""Zero masks of warp registers, and the columns that reads and writes then need (docs/contract/stored_forms.md).

Words are plain 1024-bit integers, lane l in bits 32l .. 32l + 31, wherever a bank stores their bytes. Masks of lanes
and of columns have 32 bits. Masks of granules too: (g, k) in bit 4g + k or, with coalescing, 8k + g. Masks of groups
have group g in bit 4g (times fifteen, this is the mask of their lanes) or, if called *packed*, in bit g.
"""

from functools import lru_cache
from typing import NamedTuple

from warploom.arch.config import GROUP, LANES
from warploom.arch.mechanisms import Gating
from warploom.golden_model.byte_order import WORD_BYTES
from warploom.golden_model.named import named
from warploom.golden_model.register_file import width
from warploom.golden_model.register_file.width import BYTES, Encoding, Stored
from warploom.golden_model.words import ALL_LANES, nonzero_lanes, spread

_GROUPS = 0x11111111
"""All groups."""

_PACKED = {sum((bits >> group & 1) << GROUP * group for group in range(LANES // GROUP)): bits for bits in range(256)}
_UNPACKED = list(_PACKED)
_LANES_OF = [15 * groups for groups in _UNPACKED]
"""The lanes of packed groups."""

_IN_PLANES = int("1" * 32, 16)  # `_GROUPS`, four times
_EACH_BYTE = 0x01010101  # times packed groups: all their granules, (g, k) in bit 8k + g
_BELOW = [(1 << 8 * width) - 1 for width in range(BYTES + 1)]  # the granules below a width
_DIGIT_OF = b"0" + b"1" * 255  # by byte: whether it is not zero
_BYTE_OF = bytes.maketrans(b"01", b"\x00\xff")  # by digit


class Zero(NamedTuple):
    """The zero mask of a warp register (32 bits), and its R-bits (8, one for each group)."""

    mask: int
    reorder: int = 0


class Rewrite(NamedTuple):
    """A register write: the new zero mask and R-bits, the bytes written (0 elsewhere) and their mask (ones in each
    written byte), both 1024 bits in lane order, and the columns of the bank that are enabled."""

    zero: Zero
    word: int
    byte_mask: int
    columns: int


class _Choice(NamedTuple):
    """A `Rewrite` without its word."""

    zero: Zero
    byte_mask: int
    columns: int


NOTHING_KNOWN = Zero(0)
"""After reset, and always with `Gating.ACTIVE`."""

_ALL_ZERO = Zero(ALL_LANES)


class _Rules:
    """The rules that both byte orders share."""

    def __init__(self, gating: Gating) -> None:
        self._has_mask = gating.has_zero_mask
        self._across = gating is Gating.CROSS_LANE
        self.unused = self.constant(0)
        """The zero mask of a slot with neither register nor constant."""

    def constant(self, value: int) -> Zero:
        """The zero mask of a slot that reads no register and has this value in every lane."""
        return _ALL_ZERO if self._has_mask and not value else NOTHING_KNOWN

    def _renew_lanes(self, old: Zero, used: int, lanes: int) -> Zero:
        """A bit for each lane; `used` are the executing lanes that are not zero."""
        return named(Zero, (old.mask & ~lanes | lanes & ~used, 0)) if self._has_mask else NOTHING_KNOWN


class LaneOrder(_Rules):
    """The rules without coalescing: a column holds a lane or, in a reordered group, a granule."""

    def needed(self, lanes: int, zero: Zero) -> int:
        """The columns that a read enables for the executing lanes."""
        if zero.reorder:
            lanes = _columns_used(lanes, _LANES_OF[zero.reorder])
        return lanes & ~zero.mask

    def renew(self, old: Zero, word: int, lanes: int, full: bool) -> Rewrite:
        """The write of a result in the lanes of the mask over a register with the zero mask `old`. `full`: the lanes
        are all that are still live."""
        word &= spread(lanes)
        if self._across:
            lanes_used, granules_used = _used(word)
            zero, byte_mask, columns = _select(old, lanes_used, granules_used, lanes, full)
            return named(Rewrite, (zero, word, byte_mask, columns))
        used = nonzero_lanes(word) if self._has_mask else lanes
        return named(Rewrite, (self._renew_lanes(old, used, lanes), word, spread(used), used))

    def restore(self, word: int, zero: Zero) -> int:
        """What the lanes read."""
        return word & _kept(zero) if zero.mask else word

    def known_zero(self, zero: Zero) -> int:
        """The lanes that are known to be zero."""
        if not zero.reorder:
            return zero.mask
        reordered = _LANES_OF[zero.reorder]
        return zero.mask & ~reordered | 15 * _every(zero.mask) & reordered


class Interleaved(_Rules):
    """The rules with coalescing: a column holds a granule."""

    def needed(self, lanes: int, zero: Zero, encoding: Encoding) -> int:
        """The columns that a read enables for the executing lanes."""
        granules = _granules(lanes) & ~zero.mask if self._across else _granules(lanes & ~zero.mask)
        return _columns(granules & _BELOW[encoding.width], encoding.left)

    def renew(  # noqa: PLR0917 - the fields of a write latch, called for every result
        self, old: Zero, old_encoding: Encoding, stored: Stored, word: int, lanes: int, full: bool
    ) -> Rewrite:
        """The write of a result in the lanes of the mask over a register with `old_encoding` and the zero mask `old`.
        `stored` is the write without gating; `full`: the lanes are all that are still live."""
        word &= spread(lanes)
        if self._across:
            used = _granules_used(word)
            zero, byte_mask, columns = _mark_granules(old, old_encoding, stored.encoding, used, lanes, full)
        else:
            used = nonzero_lanes(word) if self._has_mask else lanes
            zero = self._renew_lanes(old, used, lanes)
            others = 0 if full else ALL_LANES & ~(lanes | old.mask)
            byte_mask, columns = _write_lanes(used, others, old_encoding.width, stored.encoding)
        return named(Rewrite, (zero, stored.word & byte_mask, byte_mask, columns))

    def restore(self, word: int, zero: Zero, encoding: Encoding) -> int:
        """What the lanes read."""
        if not zero.mask:
            return width.restore(word, encoding)
        if self._across:
            return width.restore(word & _kept_granules(zero.mask), encoding)
        return width.restore(word, encoding) & spread(ALL_LANES & ~zero.mask)

    def known_zero(self, zero: Zero, encoding: Encoding) -> int:
        """The lanes that are known to be zero."""
        if not self._across:
            return zero.mask
        return _known_lanes(zero, encoding) if zero.mask & _BELOW[1] else 0  # all granules of a group have to be zero


@lru_cache(maxsize=1 << 16)
def _select(old: Zero, lanes_used: int, granules_used: int, lanes: int, full: bool) -> _Choice:
    """`LaneOrder.renew` with `Gating.CROSS_LANE`: each free group chooses between its lanes and its granules."""
    free = _GROUPS if full else _every(lanes)
    reorder = free & _more(lanes_used, granules_used) | ~free & _UNPACKED[old.reorder]
    reordered, unbound = 15 * reorder, 15 * free
    by_lane = ~lanes_used & (lanes | unbound) | old.mask & ~lanes
    by_granule = ~granules_used & (old.mask | unbound)
    mask = (by_lane & ~reordered | by_granule & reordered) & ALL_LANES
    stored, completed = ~mask & reordered, ~mask & reordered & ~unbound & old.mask
    straight = lanes & ~mask & ~reordered
    byte_mask = _byte_mask(*(
        straight | lanes & 15 * (stored >> k & _GROUPS) | 15 * (completed >> k & _GROUPS) for k in range(BYTES)
    ))
    return _Choice(Zero(mask, _PACKED[reorder]), byte_mask, _columns_used(lanes, reordered) & ~mask)


@lru_cache(maxsize=1 << 16)
def _mark_granules(  # noqa: PLR0917 - hashed by position, called for every result
    old: Zero, old_encoding: Encoding, encoding: Encoding, granules_used: int, lanes: int, full: bool
) -> _Choice:
    """`Interleaved.renew` with `Gating.CROSS_LANE`; granules have (g, k) in bit 8k + g."""
    was, bound = _known(old, old_encoding), 0 if full else ~(_EACH_BYTE * _PACKED[_every(lanes)])
    mask = ~granules_used & (was | ~bound) & ALL_LANES
    stored = ~mask & _BELOW[encoding.width]
    completed = stored & bound & (was | ~_BELOW[old_encoding.width])  # in the other lanes too
    byte_mask = _byte_mask(*(
        lanes & _LANES_OF[stored >> 8 * k & 0xFF] | _LANES_OF[completed >> 8 * k & 0xFF] for k in range(BYTES)
    ))
    return _Choice(Zero(mask), byte_mask, _columns(stored & _granules(lanes) | completed, encoding.left))


@lru_cache(maxsize=1 << 16)
def _write_lanes(used: int, others: int, old_width: int, encoding: Encoding) -> tuple[int, int]:
    """`Interleaved.renew` with a bit for each lane: byte mask and columns. The `used` lanes write their bytes, the
    `others` the bytes that were not stored before."""
    below, stored = _BELOW[old_width], _BELOW[encoding.width]
    columns = _columns((_granules(used) | _granules(others) & ~below) & stored, encoding.left)
    planes = [used | others if k >= old_width else used for k in range(encoding.width)]
    return _byte_mask(*planes, *[0] * (BYTES - encoding.width)), columns


def _used(word: int) -> tuple[int, int]:
    """The lanes, and the granules (g, k) in bit 4g + k, that are not zero."""
    digits = word.to_bytes(WORD_BYTES, "big").translate(_DIGIT_OF)
    planes = int(digits[::4] + digits[1::4] + digits[2::4] + digits[3::4], 2)  # bit 32k + l: byte k of lane l
    lanes = planes | planes >> 64
    pairs = planes | planes >> 1
    granules = (pairs | pairs >> 2) & _IN_PLANES
    granules |= granules >> 31
    return (lanes | lanes >> 32) & ALL_LANES, (granules | granules >> 62) & ALL_LANES


def _granules_used(word: int) -> int:
    """The granules, (g, k) in bit 8k + g, that are not zero."""
    pairs = word | word >> 32
    groups = (pairs | pairs >> 64).to_bytes(WORD_BYTES, "big")  # with those of group g in the lowest lane of it
    planes = groups[12::16] + groups[13::16] + groups[14::16] + groups[15::16]
    return int(planes.translate(_DIGIT_OF), 2)


def _some(lanes: int) -> int:
    """The groups that have a lane in the mask."""
    return (lanes | lanes >> 1 | lanes >> 2 | lanes >> 3) & _GROUPS


def _every(lanes: int) -> int:
    """The groups that have all their lanes in the mask."""
    return lanes & lanes >> 1 & lanes >> 2 & lanes >> 3 & _GROUPS


def _granules(lanes: int) -> int:
    """All granules, (g, k) in bit 8k + g, of the groups that have a lane in the mask."""
    return _EACH_BYTE * _PACKED[_some(lanes)]


def _more(these: int, those: int) -> int:
    """The groups that have more bits in the first mask than in the second."""
    # Counts are at most 4, and four bits for each group hold their difference plus 7.
    return _count(these) + 7 * _GROUPS - _count(those) >> 3 & _GROUPS


def _count(bits: int) -> int:
    """How many bits of each group are in the mask, in four bits for each group."""
    return (bits & _GROUPS) + (bits >> 1 & _GROUPS) + (bits >> 2 & _GROUPS) + (bits >> 3 & _GROUPS)


def _known(zero: Zero, encoding: Encoding) -> int:
    """The granules, (g, k) in bit 8k + g, that are zero: those above the width unless the sign is 1."""
    below = _BELOW[encoding.width]
    return zero.mask & below | (0 if encoding.sign else ALL_LANES & ~below)


@lru_cache(maxsize=1 << 16)
def _known_lanes(zero: Zero, encoding: Encoding) -> int:
    """The lanes of the groups of which all granules are zero."""
    granules = _known(zero, encoding)
    return _LANES_OF[granules & granules >> 8 & granules >> 16 & granules >> 24]


def _columns(granules: int, left: bool) -> int:
    """The columns that hold granules of a register on this side: byte k is in sub-bank k, or 3 - k on the left."""
    return int.from_bytes(granules.to_bytes(BYTES, "little"), "big") if left else granules


def _columns_used(lanes: int, reordered: int) -> int:
    """The columns that hold bytes of the lanes if the groups with the lanes `reordered` are."""
    return lanes & ~reordered | 15 * _some(lanes) & reordered


@lru_cache(maxsize=1 << 16)
def _byte_mask(lanes0: int, lanes1: int, lanes2: int, lanes3: int) -> int:
    """Ones in byte k of the lanes of the k-th mask."""
    mask = bytearray(WORD_BYTES)  # the last lane first
    for k, lanes in enumerate((lanes0, lanes1, lanes2, lanes3)):
        mask[BYTES - 1 - k :: BYTES] = f"{lanes:032b}".encode().translate(_BYTE_OF)
    return int.from_bytes(mask, "big")


@lru_cache(maxsize=1 << 16)
def _kept(zero: Zero) -> int:
    """Ones in the bytes that are not marked zero, without coalescing."""
    reordered = _LANES_OF[zero.reorder]
    kept = ALL_LANES & ~zero.mask
    return _byte_mask(*(kept & ~reordered | 15 * ((kept & reordered) >> k & _GROUPS) for k in range(BYTES)))


@lru_cache(maxsize=1 << 16)
def _kept_granules(mask: int) -> int:
    """Ones in the bytes of granules that are not marked zero, (g, k) in bit 8k + g."""
    return _byte_mask(*(_LANES_OF[~mask >> 8 * k & 0xFF] for k in range(BYTES)))
