"""The stored form of narrow registers: lanes read the values that were written to them, for any values and lanes.

The shadow is a plain array of 32 integers for each register. All data that the hardware leaves unspecified is random:
the banks at power-up, results in lanes that do not execute, and after each write the bytes of the row that are not
stored.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Alignment, Coalescing
from warploom.golden_model.byte_order import from_sub_banks, to_sub_banks
from warploom.golden_model.dual_bank import DualBank
from warploom.golden_model.register_file import width as width_module
from warploom.golden_model.register_file.mask_buffer import MaskBuffer
from warploom.golden_model.register_file.width import Encoding, Stored, detect, renew, restore
from warploom.golden_model.words import ALL_LANES, broadcast, join, split, spread

Renew = Callable[[Encoding, int, int, bool, bool], Stored]

ROWS = 16
WIDTHS, SIGNS = (1, 2, 3, 4), (0, 1)
TRANSITIONS = set(product(WIDTHS, SIGNS, WIDTHS, SIGNS, (False, True)))
"""Coverage: (stored width, stored sign, width of the result, sign of the result, full)."""

_BELOW = {width: broadcast((1 << 8 * width) - 1) for width in WIDTHS}
_POSITIVE = {1: 0xFF, 2: 0xFFFF, 3: 0xFFFFFF, 4: 0x7FFFFFFF}  # the largest positive value of each width


class Write(NamedTuple):
    """One result: row of the register, word (garbage in lanes that do not execute), executing lanes, all live lanes."""

    row: int
    word: int
    lanes: int
    full: bool


class WrongRead(AssertionError):
    """A lane does not read the value last written to it."""


class WrongCode(AssertionError):
    """A register is stored wider than it needs, or on the wrong side."""


def needed(values: list[int]) -> tuple[int, int]:
    """Width and sign from the lanes' values: the bytes of the value that needs most."""
    sign = int(any(value >> 31 for value in values))
    extreme = max(value ^ (0xFFFFFFFF if sign else 0) for value in values)
    return max(1, -(-extreme.bit_length() // 8)), sign


class Registers:
    """A bank of stored registers and its shadow. `renew` is the function under test."""

    def __init__(self, alignment: Alignment, renew: Renew) -> None:
        self.buffer = MaskBuffer(SmConfig(coalescing=Coalescing.ON, alignment=alignment, rows=ROWS))
        self.bank = DualBank(ROWS)
        self.bank.data = [random.getrandbits(1024) for _ in range(ROWS)]
        self.shadow: list[list[int | None]] = [[None] * 32 for _ in range(ROWS)]  # None: nothing to read
        self.by_write = alignment is Alignment.WRITE
        self.renew = renew
        self.covered: Counter[tuple[int, int, int, int, bool]] = Counter()

    def forget(self, row: int, lanes: int) -> None:
        """Mark lanes undefined: they have not written the register yet, or will not read it any more."""
        self.shadow[row] = [None if lanes >> lane & 1 else value for lane, value in enumerate(self.shadow[row])]

    def code(self, row: int) -> Encoding:
        return self.buffer.read(0, row, row % 2 == 1)

    def write(self, write: Write) -> None:
        """One register write, as in the write-back stage, the banks and the mask buffer."""
        row, word, lanes, full = write
        old, values = self.code(row), split(word)
        side = random.random() < 0.5 if self.by_write else old.left
        stored = self.renew(old, word, lanes, full, side)
        left = stored.encoding.left
        self.bank.write(row, to_sub_banks(stored.word, left), to_sub_banks(stored.byte_mask, left))
        self.buffer.write(0, row, stored.encoding)
        kept = to_sub_banks(_BELOW[stored.encoding.width], left)
        self.bank.write(row, random.getrandbits(1024), ~kept)
        executing = [value for lane, value in enumerate(values) if lanes >> lane & 1]
        self.shadow[row] = [new if lanes >> lane & 1 else was
                            for lane, (new, was) in enumerate(zip(values, self.shadow[row], strict=True))]
        self.check_code(old, self.code(row), needed(executing), full, side)
        if full or self.shadow[row].count(None) + len(executing) < 32:  # a partial one with other lanes to damage
            self.covered[old.width, old.sign, *needed(executing), full] += 1

    def check_code(self, old: Encoding, new: Encoding, wanted: tuple[int, int], full: bool, side: bool) -> None:
        """A full write makes a register as narrow as its lanes, on its side; a partial one widens it no more than
        necessary."""
        width, sign = wanted
        if not full:
            width = max(width, old.width) if sign == old.sign else 4
        if new != (width, sign, side if full else old.left):
            raise WrongCode(f"{old} became {new} by a result of {wanted}, full: {full}")

    def check(self, row: int) -> None:
        """Each lane reads the value last written to it."""
        code = self.code(row)
        read = split(restore(from_sub_banks(self.bank.read(row), code.left), code))
        for lane, (value, expected) in enumerate(zip(read, self.shadow[row], strict=True)):
            if value != expected and expected is not None:
                raise WrongRead(f"row {row}, lane {lane}, {code}: {value:#x}, not {expected:#x}")


def random_lanes(live: int) -> int:
    """Some of the lanes that are still live: few, many, half a warp, or a random set."""
    lanes = random.choice([1 << random.randrange(32), ~(1 << random.randrange(32)), 0xFFFF, 0x55555555,
                           random.getrandbits(32)])
    return lanes & live or live & -live


def random_word(lanes: int) -> int:
    """A result of random width and sign, sometimes of both signs; random elsewhere."""
    garbage = random.getrandbits(1024)
    positive = garbage & broadcast(_POSITIVE[random.choice(WIDTHS)])
    word = random.choice([positive, ~positive, positive, ~positive, random.getrandbits(1024)])
    mask = spread(lanes)
    return word & mask | random.getrandbits(1024) & ~mask & (1 << 1024) - 1


def stimulus(writes: int, registers: Registers) -> Iterator[Write]:
    """Full and partial writes to all rows, while lanes exit and new warps replace the old ones."""
    live = [ALL_LANES] * ROWS
    for _ in range(writes):
        row, event = random.randrange(ROWS), random.random()
        if event < 0.02:  # a new warp
            live[row] = random.choice([ALL_LANES, random_lanes(ALL_LANES)])
            registers.forget(row, ALL_LANES)
        elif event < 0.04:  # some lanes exit
            live[row] = random_lanes(live[row])
            registers.forget(row, ~live[row])
        lanes = live[row] if random.random() < 0.4 else random_lanes(live[row])
        # Lanes may exit while a result is in flight: it is then partial although no other lane is left.
        yield Write(row, random_word(lanes), lanes, full=lanes == live[row] and random.random() < 0.95)


def run(alignment: Alignment, writes: int, renew: Renew = renew) -> Registers:
    """Random writes, each checked, with reads of other registers between them."""
    registers = Registers(alignment, renew)
    for write in stimulus(writes, registers):
        registers.write(write)
        registers.check(write.row)
        registers.check(random.randrange(ROWS))
    for row in range(ROWS):
        registers.check(row)
    return registers


@pytest.mark.sample(1)
@pytest.mark.parametrize("alignment", [Alignment.REG, Alignment.WRITE])
def test_lanes_read_what_was_written(alignment: Alignment) -> None:
    random.seed(str(alignment))
    covered = run(alignment, 100_000).covered
    assert set(covered) == TRANSITIONS, f"never hit: {TRANSITIONS - set(covered)}"


def no_fill(old: Encoding, word: int, lanes: int, full: bool, side: bool) -> Stored:
    """The other lanes do not get the bytes that were not stored so far."""
    stored = renew(old, word, lanes, full, side)
    mask = stored.byte_mask & spread(lanes)
    return Stored(stored.encoding, stored.word & mask, mask)


def fill_with_the_new_sign(old: Encoding, word: int, lanes: int, full: bool, side: bool) -> Stored:
    """The other lanes get the sign of the result instead of their own."""
    stored = renew(old, word, lanes, full, side)
    filled = stored.byte_mask & ~spread(lanes)
    return stored._replace(word=stored.word & ~filled | filled * stored.encoding.sign)


def narrow_on_a_change_of_sign(old: Encoding, word: int, lanes: int, full: bool, side: bool) -> Stored:
    """Two signs in one register without its upper bytes."""
    stored, (width, sign) = renew(old, word, lanes, full, side), detect(word, lanes)
    if full or sign == old.sign:
        return stored
    width = max(width, old.width)
    return Stored(stored.encoding._replace(width=width), stored.word & _BELOW[width], stored.byte_mask & _BELOW[width])


def side_changes_with_partial_writes(old: Encoding, word: int, lanes: int, full: bool, side: bool) -> Stored:
    """The values of the other lanes are on the old side."""
    return renew(old._replace(left=old.left ^ (not full)), word, lanes, full, side)


def detector_of_all_lanes(old: Encoding, word: int, lanes: int, full: bool, side: bool) -> Stored:
    """Lanes that do not execute count, which costs width but no data."""
    with patch.object(width_module, "detect", lambda word, _: detect(word, ALL_LANES)):
        return renew(old, word, lanes, full, side)


@pytest.mark.parametrize(("broken", "error"), [
    (no_fill, WrongRead), (fill_with_the_new_sign, WrongRead), (narrow_on_a_change_of_sign, WrongCode),
    (side_changes_with_partial_writes, WrongCode), (detector_of_all_lanes, WrongCode),
])
def test_the_property_catches(broken: Renew, error: type[AssertionError]) -> None:
    random.seed(broken.__name__)
    with pytest.raises(error):
        run(Alignment.WRITE, 2000, broken)


@pytest.mark.parametrize("broken", [no_fill, fill_with_the_new_sign, narrow_on_a_change_of_sign,
                                    side_changes_with_partial_writes])
def test_reads_alone_catch(broken: Renew) -> None:
    """Errors that lose data are caught without checking any encoding."""
    random.seed(broken.__name__)
    with patch.object(Registers, "check_code", lambda *_: None), pytest.raises(WrongRead):
        run(Alignment.WRITE, 2000, broken)


def test_detector_by_its_definition() -> None:
    """Each byte of each executing lane checked separately (docs/contract/stored_forms.md)."""
    random.seed(7)
    seen = set()
    for _ in range(2000):
        lanes = random_lanes(ALL_LANES)
        word = random_word(lanes)
        values = [value for lane, value in enumerate(split(word)) if lanes >> lane & 1]
        sign = int(any(value >> 31 & 1 for value in values))
        copy = 0xFF if sign else 0
        width = max([1, *(byte + 1 for byte in (1, 2, 3) for value in values if value >> 8 * byte & 0xFF != copy)])
        assert detect(word, lanes) == (width, sign) == needed(values)
        seen.add((width, sign))
    assert seen == set(product(WIDTHS, SIGNS))


def test_the_example_of_the_documentation() -> None:
    """docs/coalescing.md, When lanes diverge: half of the lanes write 0x1234, or a negative value, over one byte."""
    half, old = 0xFFFF, Encoding(1, 0, False)
    stored = renew(old, broadcast(0x1234), half, full=False, side=True)
    assert stored == (Encoding(2, 0, False), join([0x1234] * 16 + [0] * 16), join([0xFFFF] * 16 + [0xFF00] * 16))
    stored = renew(old, broadcast(0xFFFFFFFE), half, full=False, side=True)
    upper = join([0xFFFFFFFF] * 16 + [0xFFFFFF00] * 16)
    assert stored == (Encoding(4, 1, False), join([0xFFFFFFFE] * 16 + [0] * 16), upper)
    stored = renew(old, broadcast(0xFFFFFFFE), ALL_LANES, full=True, side=True)
    assert stored == (Encoding(1, 1, True), broadcast(0xFE), broadcast(0xFF))
