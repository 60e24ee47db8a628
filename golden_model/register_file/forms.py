"""Stored forms: whole words, bytes as needed ([RADAIDEH], chapter 3), a zero mask (chapter 4), or both.

The metadata of a register is None, its `Encoding`, its `Zero`, or both (`Packed`).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar, cast

from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.interfaces import zero_fields
from warploom.golden_model.gating.zero_buffer import ZeroBuffer
from warploom.golden_model.memo import Memo
from warploom.golden_model.named import named
from warploom.golden_model.operands.collector import EVERY, NOTHING_STORED, SLOTS
from warploom.golden_model.placement import Address, Entries
from warploom.golden_model.records import IssueFields, Result, StoredFields
from warploom.golden_model.register_file import width
from warploom.golden_model.register_file.mask_buffer import MaskBuffer
from warploom.golden_model.register_file.ports import Form, Port, Written
from warploom.golden_model.register_file.sides import WarpSides
from warploom.golden_model.register_file.width import BYTES, Encoding
from warploom.golden_model.register_file.zero_mask import NOTHING_KNOWN, Interleaved, LaneOrder, Zero
from warploom.golden_model.words import spread

ALL_COLUMNS = (1 << COLUMNS) - 1

NO_REGISTER = Encoding(width=SUB_BANKS, sign=0, left=False)
"""The encoding of an operand that comes from no register: it passes unchanged."""

_NONE = (None,) * (len(SLOTS) + 1)

Known = TypeVar("Known")
"""The metadata of a form with zero masks."""


def form_of(config: SmConfig) -> Form:
    """The stored form of a configuration."""
    if config.has_sides:
        return Narrow(config) if not config.gates_columns else NarrowZeroMasked(config)
    return Plain() if not config.gates_columns else ZeroMasked(config)


class Plain:
    """Whole words; there is no metadata."""

    by_lanes = False
    shown = ()
    sides = None

    def lookup(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> tuple[None, ...]:
        """See `Form`, here and below."""
        return _NONE

    def fields(self, metadata: None) -> StoredFields:
        return NOTHING_STORED

    def of(self, fields: StoredFields) -> None:
        return None

    def ports(self, address: Address, metadata: None) -> Sequence[Port]:
        return ((address.bank, 0),)

    def needed(self, lanes: int, metadata: Sequence[None]) -> Sequence[int]:
        return EVERY[: len(metadata)]

    def restore(self, word: int, metadata: None) -> int:
        return word

    def known_zero(self, metadata: None) -> int:
        return 0

    def renew(self, result: Result) -> Written:
        return named(Written, (None, result["data"], spread(result["lanes"]), ALL_COLUMNS))

    def write(self, result: Result, metadata: None) -> None:
        pass

    def show(self, metadata: None) -> Sequence[int]:
        return ()


class Narrow:
    """As many bytes of each lane as the widest value needs. `mask_buffer` holds the encodings. With the bounds of
    `Alignment` there are no sides: the lower of two slots in a bank uses one port, the other slot the other port."""

    by_lanes = False
    shown = ("encoding",)

    def __init__(self, config: SmConfig) -> None:
        self.mask_buffer, self._entries = MaskBuffer(config), Entries(config)
        self.restore, self.fields = width.restore, width.FIELDS_OF.__getitem__
        self.sides = WarpSides() if config.stores_sides else None
        self._sided = config.alignment.has_sides

    def lookup(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> tuple[Encoding, ...]:
        reads, read, at = fields["reads"], self.mask_buffer.read, self._entries.at
        a, b, c = sources
        return (read(*at(a)) if reads & 1 else NO_REGISTER, read(*at(b)) if reads & 2 else NO_REGISTER,
                read(*at(c)) if reads & 4 else NO_REGISTER, read(*at(destination)) if fields["writes"] else NO_REGISTER)

    def of(self, fields: StoredFields) -> Encoding:
        return Encoding.of(fields)

    def encoding(self, metadata: Encoding) -> Encoding:
        """The register's encoding."""
        return metadata

    def ports(self, address: Address, metadata: Encoding) -> Sequence[Port]:
        bank = address.bank
        return ((bank, int(metadata.left)),) if self._sided else ((bank, 0), (bank, 1))

    def needed(self, lanes: int, metadata: Sequence[Encoding]) -> Sequence[int]:
        return [_COLUMNS[encoding] for encoding in metadata]

    def known_zero(self, metadata: Encoding) -> int:
        return 0

    def stored(self, result: Result) -> width.Stored:
        """The new encoding, and what is written."""
        old, full = Encoding.of(result), bool(result["full"])
        side = self.sides.take(result["warp"]) if self.sides is not None and full else old.left
        return width.renew(old, result["data"], result["lanes"], full, side)

    def renew(self, result: Result) -> Written:
        encoding, word, byte_mask = self.stored(result)
        return named(Written, (encoding, word, byte_mask, _COLUMNS[encoding]))

    def write(self, result: Result, metadata: Encoding) -> None:
        self.mask_buffer.write(*self._entries.of(result), metadata)

    def show(self, metadata: Encoding) -> Sequence[int]:
        return (metadata.packed,)


_COLUMNS = {encoding: (1 << BYTES * encoding.width * 2) - 1 << (COLUMNS - BYTES * encoding.width * 2) * encoding.left
            for encoding in width.FIELDS_OF}
"""The columns of a register with this encoding."""


class ZeroMasked:
    """Whole words of which zero lanes, or granules, are neither read nor written. `zero_buffer` holds the zero
    masks."""

    by_lanes = True
    sides = None

    def __init__(self, config: SmConfig) -> None:
        self.zero_buffer, self._rules = ZeroBuffer(config), LaneOrder(config.gating)
        self._entries = Entries(config)
        self.restore, self.known_zero = self._rules.restore, self._rules.known_zero
        self.shown = [name for name, _ in zero_fields(config)]

    def lookup(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> tuple[Zero, ...]:
        read, rules = self._read, self._rules
        written = read(destination) if fields["writes"] else NOTHING_KNOWN
        return *_of_slots(fields, sources, read, rules.constant, rules.unused), written

    def _read(self, address: Address) -> Zero:
        return self.zero_buffer.read(*self._entries.at(address))

    def fields(self, metadata: Zero) -> StoredFields:
        return cast(StoredFields, dict(zip(self.shown, metadata, strict=False)))

    def of(self, fields: StoredFields) -> Zero:
        return _known(fields)

    def ports(self, address: Address, metadata: Zero) -> Sequence[Port]:
        return ((address.bank, 0),)

    def needed(self, lanes: int, metadata: Sequence[Zero]) -> Sequence[int]:
        return [self._rules.needed(lanes, zero) for zero in metadata]

    def renew(self, result: Result) -> Written:
        rewrite = self._rules.renew(_known(result), result["data"], result["lanes"], bool(result["full"]))
        return named(Written, rewrite)

    def write(self, result: Result, metadata: Zero) -> None:
        self.zero_buffer.write(*self._entries.of(result), False, metadata)

    def show(self, metadata: Zero) -> Sequence[int]:
        return metadata[: len(self.shown)]


class Packed(NamedTuple):
    """The encoding of a register, and its zero mask."""

    encoding: Encoding
    zero: Zero

    @property
    def width(self) -> int:
        """That of the encoding."""
        return self.encoding.width

    @property
    def left(self) -> bool:
        """That of the encoding."""
        return self.encoding.left


_NOTHING_KNOWN = Packed(NO_REGISTER, NOTHING_KNOWN)


class NarrowZeroMasked:
    """Both: bytes as needed, without those of zero lanes or zero granules, which are neither read nor written."""

    by_lanes = True

    def __init__(self, config: SmConfig) -> None:
        self._narrow, self._rules = Narrow(config), Interleaved(config.gating)
        self.mask_buffer, self.zero_buffer = self._narrow.mask_buffer, ZeroBuffer(config)
        self._entries = Entries(config)
        self._unused = self._constant(0)  # of a slot with neither register nor constant
        self._names = [name for name, _ in zero_fields(config)]
        self.shown, self.sides = (*self._narrow.shown, *self._names), self._narrow.sides
        self.fields = Memo(self._fields_of, 1 << 16).__getitem__

    def lookup(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> tuple[Packed, ...]:
        written = self._read(destination) if fields["writes"] else _NOTHING_KNOWN
        return *_of_slots(fields, sources, self._read, self._constant, self._unused), written

    def _read(self, address: Address) -> Packed:
        part, entry, left = self._entries.at(address)
        encoding = self.mask_buffer.read(part, entry, left)
        return named(Packed, (encoding, self.zero_buffer.read(part, entry, encoding.left)))

    def _constant(self, value: int) -> Packed:
        """Of a slot that reads no register and has this value in every lane."""
        return named(Packed, (NO_REGISTER, self._rules.constant(value)))

    def _fields_of(self, metadata: Packed) -> StoredFields:
        zero = dict(zip(self._names, metadata.zero, strict=False))
        return cast(StoredFields, {**width.FIELDS_OF[metadata.encoding], **zero})

    def of(self, fields: StoredFields) -> Packed:
        return Packed(Encoding.of(fields), _known(fields))

    def encoding(self, metadata: Packed) -> Encoding:
        """The register's encoding, without its zero mask."""
        return metadata.encoding

    def ports(self, address: Address, metadata: Packed) -> Sequence[Port]:
        return self._narrow.ports(address, metadata.encoding)

    def needed(self, lanes: int, metadata: Sequence[Packed]) -> Sequence[int]:
        return [self._rules.needed(lanes, zero, encoding) for encoding, zero in metadata]

    def restore(self, word: int, metadata: Packed) -> int:
        return self._rules.restore(word, metadata.zero, metadata.encoding)

    def known_zero(self, metadata: Packed) -> int:
        return self._rules.known_zero(metadata.zero, metadata.encoding)

    def renew(self, result: Result) -> Written:
        stored = self._narrow.stored(result)
        zero, word, byte_mask, columns = self._rules.renew(
            _known(result), Encoding.of(result), stored, result["data"], result["lanes"], bool(result["full"]))
        return named(Written, (named(Packed, (stored.encoding, zero)), word, byte_mask, columns))

    def write(self, result: Result, metadata: Packed) -> None:
        (part, entry), (encoding, zero) = self._entries.of(result), metadata
        self.mask_buffer.write(part, entry, encoding)
        self.zero_buffer.write(part, entry, encoding.left, zero)

    def show(self, metadata: Packed) -> Sequence[int]:
        return (metadata.encoding.packed, *metadata.zero[: len(self._names)])


def _of_slots(
    fields: IssueFields, sources: tuple[Address, ...], read: Callable[[Address], Known],
    constant: Callable[[int], Known], unused: Known,
) -> tuple[Known, Known, Known]:
    """What is known of the registers of an instruction's slots, at these addresses; of a slot that reads none, what its
    constant tells."""
    reads, imm, imm_slot, (a, b, c) = fields["reads"], fields["imm"], fields["imm_slot"], sources
    return (read(a) if reads & 1 else constant(imm) if imm_slot == 0 else unused,
            read(b) if reads & 2 else constant(imm) if imm_slot == 1 else unused,
            read(c) if reads & 4 else constant(imm) if imm_slot == 2 else unused)


_zero: Final = lru_cache(maxsize=1 << 16)(Zero)  # those of most results recur


def _known(fields: StoredFields | Result) -> Zero:
    return _zero(fields.get("zero", 0), fields.get("reorder", 0))
