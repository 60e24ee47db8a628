"""Width detection, and the stored form of a warp register (docs/contract/stored_forms.md; [RADAIDEH], Fig. 3.20).

Words are plain 1024-bit integers, lane l in bits 32l .. 32l + 31.
"""

from functools import lru_cache
from typing import NamedTuple

from warploom.arch.fields import pack
from warploom.arch.interfaces import ENCODING_FIELDS
from warploom.golden_model.byte_order import sub_bank_mask
from warploom.golden_model.named import named
from warploom.golden_model.records import Result, StoredFields
from warploom.golden_model.words import ALL_LANES, broadcast, spread

BYTES = 4
"""Bytes of a lane."""

_ONES = broadcast(0xFFFFFFFF)
_SIGNS = broadcast(1 << 31)
_WIDER = [(width, broadcast(0xFF << 8 * (width - 1))) for width in range(BYTES, 1, -1)]  # with the highest byte of each
_BELOW = [broadcast((1 << 8 * width) - 1) for width in range(BYTES + 1)]  # the bytes below a width, in every lane
_ABOVE = [_ONES & ~below for below in _BELOW]
_FILL = [0, _ONES]  # by sign


class Encoding(NamedTuple):
    """How a warp register is stored: bytes below `width` (1..4) of every lane; those above are copies of `sign` (0, 1).
    Byte k is in sub-bank k, or in 3 - k on the `left`."""

    width: int
    sign: int
    left: bool

    @property
    def mask(self) -> int:
        """The sub-banks in use."""
        return sub_bank_mask(self.width, self.left)

    @property
    def packed(self) -> int:
        """The encoding as `ENCODING_FIELDS`."""
        return pack(ENCODING_FIELDS, self.fields)

    @property
    def fields(self) -> StoredFields:
        """The encoding by the names of `ENCODING_FIELDS`."""
        return {"size": self.width - 1, "sign": self.sign, "left": int(self.left)}

    @classmethod
    def of(cls, fields: StoredFields | Result) -> "Encoding":
        """The encoding in `ENCODING_FIELDS`; other fields are ignored."""
        return ENCODINGS[fields["size"] + 1][fields["sign"]][fields["left"]]


ENCODINGS = [[[Encoding(width, sign, left) for left in (False, True)] for sign in (0, 1)] for width in range(BYTES + 1)]
"""Every encoding, by width, sign and side (there is none of width 0)."""

FIELDS_OF = {encoding: encoding.fields for widths in ENCODINGS for signs in widths for encoding in signs}
"""The `fields` of each, which nobody changes."""


class Stored(NamedTuple):
    """A register write: the new encoding, the bytes written (0 elsewhere), and their mask (ones in each written byte);
    both 1024 bits."""

    encoding: Encoding
    word: int
    byte_mask: int


def detect(word: int, lanes: int) -> tuple[int, int]:
    """Width in bytes (1..4) and sign (0, 1) that fit all lanes of the mask; lanes outside it do not count."""
    mask = spread(lanes)
    significant, sign = word & mask, 0
    if significant & _SIGNS:
        significant, sign = significant ^ mask, 1
    for width, highest in _WIDER:
        if significant & highest:
            return width, sign
    return 1, sign


def renew(old: Encoding, word: int, lanes: int, full: bool, side: bool) -> Stored:
    """The write of a result in the lanes of the mask over a register with the encoding `old`.

    `full`: the lanes are all that are still live; `side`: a full write goes to the left. A partial write also writes,
    in the other lanes, the bytes that they now need and that were not stored.
    """
    width, sign = detect(word, lanes)
    if full:
        written = _written(lanes, width)
        return named(Stored, (ENCODINGS[width][sign][side], word & written, written))
    width = max(old.width, width) if sign == old.sign else BYTES
    written, filled = _written(lanes, width), _filled(lanes, old.width, width)
    stored = word & written | _FILL[old.sign] & filled
    return named(Stored, (ENCODINGS[width][sign][old.left], stored, written | filled))


def restore(word: int, encoding: Encoding) -> int:
    """The word that is read: the stored bytes, and copies of the sign above them."""
    width, sign, _ = encoding
    return word if width == BYTES else word & _BELOW[width] | _ABOVE[width] if sign else word & _BELOW[width]


@lru_cache(maxsize=1 << 16)
def _written(lanes: int, width: int) -> int:
    """Ones in the bytes below `width` of the lanes."""
    return spread(lanes) & _BELOW[width]


@lru_cache(maxsize=1 << 16)
def _filled(lanes: int, stored: int, width: int) -> int:
    """Ones in bytes `stored` to `width` - 1 of all other lanes."""
    return spread(ALL_LANES & ~lanes) & _BELOW[width] & ~_BELOW[stored]
