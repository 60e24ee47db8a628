"""Gating loses no data: lanes read the values that were written to them, for all values and lanes.

Banks are modelled as columns: R-bits, width and side decide the position of a byte, which is stored only in an enabled
column; a column that is not enabled for reading shows poison. Meaningless data is random: banks at power-up, results in
lanes that do not execute, and after each write the stored bytes that are known to be zero.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple
from unittest.mock import patch

import pytest
from support import gating_transitions
from support.gating_bugs import BELOW, LOSSES, WASTE, Rules
from support.gating_transitions import Name

from warploom.arch.mechanisms import Gating
from warploom.golden_model.byte_order import from_sub_banks, to_sub_banks
from warploom.golden_model.register_file import width
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Rewrite, Zero
from warploom.golden_model.words import ALL_LANES, broadcast, merge, split, spread

ROWS = 16
POISON = broadcast(0xA5A5A5A5)


class Write(NamedTuple):
    """One result: row of the register, word (garbage in lanes that do not execute), executing lanes, and whether they
    are all that are still live."""

    row: int
    word: int
    lanes: int
    full: bool


class WrongRead(AssertionError):
    """A lane does not read the value last written to it, or counts as zero although it is not."""


class WrongColumns(AssertionError):
    """A column is enabled although not needed, or needed but not enabled."""


class Registers(ABC):
    """A bank of columns and its shadow; column c is bits 32c .. 32c + 31 of its row."""

    def __init__(self, gating: Gating) -> None:
        self.gating = gating
        self.columns = [random.getrandbits(1024) for _ in range(ROWS)]
        self.zero = [Zero(0)] * ROWS
        self.shadow = [0] * ROWS
        self.defined = [0] * ROWS  # lanes whose shadow is defined
        self.covered: set[Name] = set()

    def forget(self, row: int, lanes: int) -> None:
        """Mark lanes undefined: they have not written the register yet, or will not read it any more."""
        self.defined[row] &= ~lanes

    def write(self, write: Write) -> None:
        """One register write, as in latch, bank and zero buffer."""
        row, word, lanes, _ = write
        rewrite = self.renew(write)
        mask, holding = self.place(row, rewrite.byte_mask), self.place(row, self.unknown(row))
        self.check_columns(rewrite.columns, mask, mask & ~holding)
        mask &= spread(rewrite.columns)
        written = self.columns[row] & ~mask | self.place(row, rewrite.word) & mask
        self.columns[row] = written & holding | random.getrandbits(1024) & ~holding & (1 << 1024) - 1
        self.shadow[row] = merge(self.shadow[row], word, lanes)
        self.defined[row] |= lanes

    def read(self, row: int, lanes: int) -> None:
        """Each executing lane reads the value last written to it."""
        columns, known = self.needed(row, lanes)
        self.check_columns(columns, self.place(row, self.unknown(row) & spread(lanes)), 0)
        shown = spread(columns)
        word = self.restore(row, self.columns[row] & shown | POISON & ~shown)
        defined, expected = spread(lanes & self.defined[row]), self.shadow[row]
        if (word ^ expected) & defined or expected & defined & spread(known):
            raise WrongRead(f"row {row}, lanes {lanes:#x}, {self.zero[row]}")

    def check_columns(self, columns: int, touched: int, known: int) -> None:
        """The columns are those with an accessed byte; none that is known to be zero is written."""
        wanted = sum(1 << column for column, bits in enumerate(split(touched)) if bits)
        if columns != wanted or known:
            raise WrongColumns(f"{columns:#x} enabled, {wanted:#x} needed, known: {known:#x}")

    @abstractmethod
    def renew(self, write: Write) -> Rewrite:
        """Apply the rules of a write, and store the new metadata of the register."""

    @abstractmethod
    def place(self, row: int, word: int) -> int:
        """The columns of a word, or of a mask of its bytes."""

    @abstractmethod
    def unknown(self, row: int) -> int:
        """The bytes of the word that must be read."""

    @abstractmethod
    def needed(self, row: int, lanes: int) -> tuple[int, int]:
        """The rules of a read: the columns that it enables, and the lanes that are known to be zero."""

    @abstractmethod
    def restore(self, row: int, columns: int) -> int:
        """The values that the lanes read from the output columns of a bank."""


class LaneOrderRegisters(Registers):
    """Without coalescing. `rules` are under test."""

    def __init__(self, rules: type[LaneOrder], gating: Gating) -> None:
        super().__init__(gating)
        self.rules = rules(gating)

    def renew(self, write: Write) -> Rewrite:
        row, word, lanes, full = write
        old = self.zero[row]
        rewrite = self.rules.renew(old, word, lanes, full)
        self.zero[row] = rewrite.zero
        self.covered.update(gating_transitions.lane_order(self.gating, old, rewrite.zero, lanes, full))
        return rewrite

    def place(self, row: int, word: int) -> int:
        return reorder(word, self.zero[row].reorder)

    def unknown(self, row: int) -> int:
        return reorder(spread(ALL_LANES & ~self.zero[row].mask), self.zero[row].reorder)

    def needed(self, row: int, lanes: int) -> tuple[int, int]:
        return self.rules.needed(lanes, self.zero[row]), self.rules.known_zero(self.zero[row])

    def restore(self, row: int, columns: int) -> int:
        return self.rules.restore(reorder(columns, self.zero[row].reorder), self.zero[row])


class InterleavedRegisters(Registers):
    """With coalescing, full writes on either side. `rules` are under test."""

    def __init__(self, rules: type[Interleaved], gating: Gating) -> None:
        super().__init__(gating)
        self.rules = rules(gating)
        self.encoding = [Encoding(1, 0, left=row % 2 == 1) for row in range(ROWS)]

    def renew(self, write: Write) -> Rewrite:
        row, word, lanes, full = write
        old, code = self.zero[row], self.encoding[row]
        stored = width.renew(code, word, lanes, full, side=random.random() < 0.5)
        rewrite = self.rules.renew(old, code, stored, word, lanes, full)
        self.zero[row], self.encoding[row] = rewrite.zero, stored.encoding
        self.covered.update(
            gating_transitions.interleaved(self.gating, old, code, rewrite.zero, stored.encoding, lanes, full)
        )
        return rewrite

    def place(self, row: int, word: int) -> int:
        return to_sub_banks(word, self.encoding[row].left)

    def unknown(self, row: int) -> int:
        unmarked = spread(ALL_LANES & ~self.zero[row].mask)
        if self.gating is Gating.CROSS_LANE:  # bit 8k + g is where column 8s + g is on the right
            unmarked = from_sub_banks(unmarked, left=False)
        return unmarked & BELOW[self.encoding[row].width]

    def needed(self, row: int, lanes: int) -> tuple[int, int]:
        zero, code = self.zero[row], self.encoding[row]
        return self.rules.needed(lanes, zero, code), self.rules.known_zero(zero, code)

    def restore(self, row: int, columns: int) -> int:
        code = self.encoding[row]
        return self.rules.restore(from_sub_banks(columns, code.left), self.zero[row], code)


class Values:
    """Random lane masks and results. Masks of words are drawn once: they cost more than the rules do."""

    def __init__(self) -> None:
        self.granules = [sum(random.choice([0, 0, 0xFF]) << 8 * k + 128 * group for group in range(8) for k in range(4))
                         * sum(1 << 32 * lane for lane in range(4)) for _ in range(256)]
        self.zero_lanes = [spread(random.getrandbits(32)) for _ in range(256)]

    def lanes(self, live: int) -> int:
        """Some of the lanes that are still live: few, many, or a random set."""
        lanes = random.choice([1 << random.randrange(32), ~(1 << random.randrange(32)), 0x55555555,
                               random.getrandbits(32), random.getrandbits(32)])
        return lanes & live or live & -live

    def word(self, lanes: int) -> int:
        """A result with some lanes and some granules zero, sometimes narrow, of either sign; random elsewhere."""
        word = random.getrandbits(1024)
        if random.random() < 0.8:
            word &= random.choice(self.granules)
        if random.random() < 0.4:
            word &= random.choice(self.zero_lanes)
        below = BELOW[random.randint(1, 4)]
        word = word & below if random.random() < 0.6 else word & below | BELOW[4] & ~below
        mask = spread(lanes)
        return word & mask | random.getrandbits(1024) & ~mask & BELOW[4]


def stimulus(writes: int, registers: Registers, values: Values) -> Iterator[Write]:
    """Full and partial writes to all rows, while lanes exit and new warps replace the old ones."""
    live = [ALL_LANES] * ROWS
    for _ in range(writes):
        row, event = random.randrange(ROWS), random.random()
        if event < 0.04:  # a new warp
            live[row] = random.choice([ALL_LANES, values.lanes(ALL_LANES)])
            registers.forget(row, ALL_LANES)
        elif event < 0.08:  # some lanes exit
            live[row] = values.lanes(live[row])
            registers.forget(row, ~live[row])
        lanes = live[row] if random.random() < 0.3 else values.lanes(live[row])
        # Lanes may exit while a result is in flight: it is then partial although no other lane is left.
        yield Write(row, values.word(lanes), lanes, full=lanes == live[row] and random.random() < 0.95)


def run(rules: Rules, gating: Gating, writes: int) -> Registers:
    """Random writes, each followed by a read of all lanes, and one of some lanes of another register."""
    registers: Registers
    if issubclass(rules, LaneOrder):
        registers = LaneOrderRegisters(rules, gating)
    else:
        registers = InterleavedRegisters(rules, gating)
    values = Values()
    for write in stimulus(writes, registers, values):
        registers.write(write)
        registers.read(write.row, ALL_LANES)
        registers.read(random.randrange(ROWS), values.lanes(ALL_LANES))
    return registers


@pytest.mark.sample(2)
@pytest.mark.parametrize("gating", [Gating.ACTIVE, Gating.IN_LANE, Gating.CROSS_LANE])
@pytest.mark.parametrize("rules", [LaneOrder, Interleaved])
def test_lanes_read_what_was_written(rules: Rules, gating: Gating) -> None:
    random.seed(f"{rules.__name__} {gating}")
    covered = run(rules, gating, 20_000).covered
    possible = gating_transitions.possible(gating, coalescing=rules is Interleaved)
    assert covered == possible, f"never hit: {possible - covered}, not possible: {covered - possible}"


@pytest.mark.parametrize(("broken", "gating"), LOSSES)
def test_reads_alone_catch(broken: Rules, gating: Gating) -> None:
    """Errors that lose data are caught without comparing columns."""
    random.seed(broken.__name__)
    with patch.object(Registers, "check_columns", lambda *_: None), pytest.raises(WrongRead):
        run(broken, gating, 2000)


@pytest.mark.parametrize(("broken", "gating"), WASTE)
def test_columns_alone_catch(broken: Rules, gating: Gating) -> None:
    """Errors that enable unneeded columns, without losing data, are caught."""
    random.seed(broken.__name__)
    with pytest.raises(WrongColumns):
        run(broken, gating, 2000)
