"""What is known to be zero in a warp register, and what is read and written besides (docs/timing.md, section 10).

Words are plain 1024-bit integers, lane l in bits 32l .. 32l + 31, in whatever columns a bank holds their bytes. Masks
of lanes and of columns have 32 bits. Masks of groups have group g in bit 4g (times fifteen, that is the mask of their
lanes) or, where it says *packed*, in bit g.
"""

from functools import lru_cache
from typing import NamedTuple

from golden_model.coalescing import width
from golden_model.coalescing.alignment import WORD_BYTES
from golden_model.coalescing.width import BYTES, Code, Stored
from golden_model.words import ALL_LANES, broadcast, spread
from warploom.arch.config import GROUP, LANES, Gating

_GROUPS = 0x11111111
"""All groups."""

_PACKED = {sum((bits >> group & 1) << GROUP * group for group in range(LANES // GROUP)): bits for bits in range(256)}
_UNPACKED = list(_PACKED)
_LANES_OF = [15 * groups for groups in _UNPACKED]
"""The lanes of packed groups."""

_EACH_BYTE = 0x01010101  # times packed groups: their granules, (g, k) in bit 8k + g
_BELOW = [(1 << 8 * width) - 1 for width in range(BYTES + 1)]  # the granules below a width
_BYTE = [broadcast(0xFF << 8 * byte) for byte in range(BYTES)]
_TOP, _ALL_BUT_TOP = broadcast(1 << 31), broadcast((1 << 31) - 1)
_DIGITS = b"0" + b"1" * 255  # of a byte: whether it is not zero


class Zero(NamedTuple):
    """What is known to be zero in a warp register: the zero mask (32 bits), and the R-bits (8, one for each group)."""

    mask: int
    reorder: int = 0


class Rewrite(NamedTuple):
    """A register write: what will be known to be zero, the bytes written (0 elsewhere) and their mask (ones in each
    byte that is written), both 1024 bits in lane order, and the columns of the bank that are enabled."""

    zero: Zero
    word: int
    byte_mask: int
    columns: int


NOTHING_KNOWN = Zero(0)
"""After reset, and always with `Gating.ACTIVE`."""

_ALL_ZERO = Zero(ALL_LANES)


class LaneOrder:
    """The rules without coalescing: a column holds a lane or, in a reordered group, a granule."""

    def __init__(self, gating: Gating) -> None:
        self._masks = gating.has_zero_mask
        self._reorders = gating is Gating.CROSS_LANE

    def needed(self, lanes: int, zero: Zero) -> int:
        """The columns that a read enables for the executing lanes."""
        if zero.reorder:
            reordered = _LANES_OF[zero.reorder]
            lanes = lanes & ~reordered | _some(lanes) * 15 & reordered
        return lanes & ~zero.mask

    def renew(self, old: Zero, word: int, lanes: int, full: bool) -> Rewrite:
        """The write of a result in the lanes of the mask over a register of which `old` is known. `full` says that the
        lanes are all that are still live."""
        word &= spread(lanes)
        if not self._masks:
            return Rewrite(NOTHING_KNOWN, word, spread(lanes), lanes)
        if self._reorders:
            return self._select(old, word, lanes, _GROUPS if full else _every(lanes))
        written = lanes & _lanes_used(word)
        return Rewrite(Zero(old.mask & ~lanes | lanes & ~written), word, spread(written), written)

    def restore(self, word: int, zero: Zero) -> int:
        """What the lanes read."""
        return word & _kept(*zero) if zero.mask else word

    def known_zero(self, zero: Zero) -> int:
        """The lanes that are known to be zero."""
        if not zero.reorder:
            return zero.mask
        reordered = _LANES_OF[zero.reorder]
        return zero.mask & ~reordered | _every(zero.mask) * 15 & reordered

    def constant(self, value: int) -> Zero:
        """What is known of a slot that reads no register but has this value in every lane."""
        return _ALL_ZERO if self._masks and not value else NOTHING_KNOWN

    def _select(self, old: Zero, word: int, lanes: int, free: int) -> Rewrite:
        """Choose lanes or granules in each free group."""
        used = _bytes_used(word)
        lanes_used = used[0] | used[1] | used[2] | used[3]
        granules = [_some(plane) for plane in used]
        granules_used = granules[0] | granules[1] << 1 | granules[2] << 2 | granules[3] << 3
        reorder = free & _more(lanes_used, granules_used) | _UNPACKED[old.reorder] & ~free
        reordered, renewed = reorder * 15, free * 15
        by_lane = old.mask & ~(lanes | renewed) | ~lanes_used & (lanes | renewed)
        by_granule = ~granules_used & (old.mask | renewed)
        zero = Zero((by_lane & ~reordered | by_granule & reordered) & ALL_LANES, _PACKED[reorder])
        grown = old.mask & ~zero.mask & reordered & ~renewed
        stored, straight = ~zero.mask & reordered, lanes & ~zero.mask & ~reordered
        written = [
            straight | (stored >> k & _GROUPS) * 15 & lanes | (grown >> k & _GROUPS) * 15
            for k in range(BYTES)
        ]
        return Rewrite(zero, word, _byte_mask(*written), self.needed(lanes, zero))


class Interleaved:
    """The rules with coalescing: a column holds a granule."""

    def __init__(self, gating: Gating) -> None:
        self._masks = gating.has_zero_mask
        self._granules = gating is Gating.CROSS_LANE

    def needed(self, lanes: int, zero: Zero, code: Code) -> int:
        """The columns that a read enables for the executing lanes."""
        if self._granules:
            granules = _groups(lanes) * _EACH_BYTE & ~zero.mask
        else:
            granules = _groups(lanes & ~zero.mask) * _EACH_BYTE
        return _columns(granules & _BELOW[code.width], code.left)

    def renew(  # noqa: PLR0917 - a write as the latch has it, called for every result
        self, old: Zero, old_code: Code, stored: Stored, word: int, lanes: int, full: bool
    ) -> Rewrite:
        """The write of a result in the lanes of the mask over a register with `old_code` of which `old` is known.
        `stored` is the write without gating; `full` says that the lanes are all that are still live."""
        if self._granules:
            return _by_granule(old, old_code, stored, word & spread(lanes), lanes, full)
        used = lanes & _lanes_used(word) if self._masks else lanes
        zero = Zero(old.mask & ~lanes | lanes & ~used) if self._masks else NOTHING_KNOWN
        filled = used if full else used | ALL_LANES & ~lanes & ~old.mask
        below, stores = _BELOW[old_code.width], _BELOW[stored.code.width]
        granules = (_groups(used) * _EACH_BYTE & below | _groups(filled) * _EACH_BYTE & ~below) & stores
        written = [
            0 if k >= stored.code.width else used if k < old_code.width else filled for k in range(BYTES)
        ]
        mask = _byte_mask(*written)
        return Rewrite(zero, stored.word & mask, mask, _columns(granules, stored.code.left))

    def restore(self, word: int, zero: Zero, code: Code) -> int:
        """What the lanes read."""
        if not zero.mask:
            return width.restore(word, code)
        if self._granules:
            return width.restore(word & _kept_granules(zero.mask), code)
        return width.restore(word, code) & spread(ALL_LANES & ~zero.mask)

    def known_zero(self, zero: Zero, code: Code) -> int:
        """The lanes that are known to be zero."""
        if not self._granules:
            return zero.mask
        mask = _counted(zero.mask, code)
        return _LANES_OF[mask & mask >> 8 & mask >> 16 & mask >> 24]

    def constant(self, value: int) -> Zero:
        """What is known of a slot that reads no register but has this value in every lane."""
        return _ALL_ZERO if self._masks and not value else NOTHING_KNOWN


def _by_granule(old: Zero, old_code: Code, stored: Stored, word: int, lanes: int, full: bool) -> Rewrite:  # noqa: PLR0917
    """`Interleaved.renew` with `Gating.CROSS_LANE`; the word is zero in lanes that do not execute."""
    was = _counted(old.mask, old_code)
    used = 0
    for k, plane in enumerate(_bytes_used(word)):
        used |= _groups(plane) << 8 * k
    whole = _PACKED[_every(lanes)] * _EACH_BYTE
    mask = ~used & (ALL_LANES if full else whole | was) & ALL_LANES
    stores = ~mask & _BELOW[stored.code.width]
    completed = 0 if full else stores & ~whole & (was | ~_BELOW[old_code.width])  # the other lanes too
    written = [
        _LANES_OF[stores >> 8 * k & 0xFF] & lanes | _LANES_OF[completed >> 8 * k & 0xFF] for k in range(BYTES)
    ]
    granules = stores & _groups(lanes) * _EACH_BYTE | completed
    byte_mask = _byte_mask(*written)
    return Rewrite(Zero(mask), stored.word & byte_mask, byte_mask, _columns(granules, stored.code.left))


def _lanes_used(word: int) -> int:
    """The lanes that are not zero."""
    carried = (word & _ALL_BUT_TOP) + _ALL_BUT_TOP | word  # bit 31 of each lane
    return int((carried & _TOP).to_bytes(WORD_BYTES, "big")[::BYTES].translate(_DIGITS), 2)


def _bytes_used(word: int) -> tuple[int, int, int, int]:
    """For each byte of a lane, the lanes in which it is not zero."""
    digits = word.to_bytes(WORD_BYTES, "big").translate(_DIGITS)
    return int(digits[3::4], 2), int(digits[2::4], 2), int(digits[1::4], 2), int(digits[::4], 2)


def _some(lanes: int) -> int:
    """The groups that have a lane in the mask."""
    return (lanes | lanes >> 1 | lanes >> 2 | lanes >> 3) & _GROUPS


def _every(lanes: int) -> int:
    """The groups that have all their lanes in the mask."""
    return lanes & lanes >> 1 & lanes >> 2 & lanes >> 3 & _GROUPS


def _groups(lanes: int) -> int:
    """`_some`, packed."""
    return _PACKED[_some(lanes)]


def _more(these: int, those: int) -> int:
    """The groups that have more lanes in the first mask than in the second."""
    # Four bits for each group: 8 or more if the difference of the counts, at most 4, is above 0.
    return _count(these) + 7 * _GROUPS - _count(those) >> 3 & _GROUPS


def _count(lanes: int) -> int:
    """How many lanes of each group are in the mask, four bits for each group."""
    return (lanes & _GROUPS) + (lanes >> 1 & _GROUPS) + (lanes >> 2 & _GROUPS) + (lanes >> 3 & _GROUPS)


def _counted(mask: int, code: Code) -> int:
    """A mask of granules with those above the width, which are zero unless the sign is 1."""
    below = _BELOW[code.width]
    return mask & below | (0 if code.sign else ALL_LANES & ~below)


def _columns(granules: int, left: bool) -> int:
    """The columns that hold granules of a register on this side: on the left byte k is in sub-bank 3 - k."""
    return int.from_bytes(granules.to_bytes(BYTES, "little"), "big") if left else granules


@lru_cache(maxsize=1 << 16)
def _byte_mask(lanes0: int, lanes1: int, lanes2: int, lanes3: int) -> int:
    """Ones in byte k of the lanes of the k-th mask."""
    return sum(spread(lanes) & byte for lanes, byte in zip((lanes0, lanes1, lanes2, lanes3), _BYTE, strict=True))


@lru_cache(maxsize=1 << 16)
def _kept(mask: int, reorder: int) -> int:
    """Ones in the bytes that are not marked zero, in lane order."""
    reordered = _LANES_OF[reorder]
    straight = ~mask & ~reordered & ALL_LANES
    return _byte_mask(*(straight | ((~mask & reordered) >> k & _GROUPS) * 15 for k in range(BYTES)))


@lru_cache(maxsize=1 << 16)
def _kept_granules(mask: int) -> int:
    """Ones in the bytes of the granules that are not marked zero."""
    return _byte_mask(*(_LANES_OF[~mask >> 8 * k & 0xFF] for k in range(BYTES)))
