"""The rules of gating, compared with docs/contract/stored_forms.md, written bit by bit."""

import random
from collections.abc import Callable, Iterable

import pytest

from warploom.arch.mechanisms import Gating
from warploom.golden_model.register_file import width
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Rewrite, Zero
from warploom.golden_model.words import ALL_LANES, join, split

LANES, GROUPS, BYTES = range(32), range(8), range(4)


def bits(mask: int) -> list[bool]:
    return [bool(mask >> index & 1) for index in LANES]


def mask_of(values: Iterable[bool]) -> int:
    return sum(value << index for index, value in enumerate(values))


def group(number: int) -> range:
    """The lanes of a group."""
    return range(4 * number, 4 * number + 4)


class Result:
    """The properties of a result: `zero(l)`, `zero(g, k)` and the free groups, all by their definitions."""

    def __init__(self, word: int, lanes: int, full: bool) -> None:
        self.executes = bits(lanes)
        self.values = [value if self.executes[lane] else 0 for lane, value in enumerate(split(word))]
        self.full = full

    def lane_is_zero(self, lane: int) -> bool:
        return self.values[lane] == 0

    def granule_is_zero(self, g: int, k: int) -> bool:
        return all(self.values[lane] >> 8 * k & 0xFF == 0 for lane in group(g))

    def free(self, g: int) -> bool:
        return self.full or all(self.executes[lane] for lane in group(g))

    def in_lane(self, old: int) -> list[bool]:
        z = bits(old)
        return [self.lane_is_zero(lane) if self.executes[lane] else z[lane] for lane in LANES]


def written(zero: Zero, columns: set[int], byte: Callable[[int, int], int | None]) -> Rewrite:
    """A write; `byte` gives for each lane and byte number the written value, if any, and adds its column."""
    word = mask = 0
    for lane in LANES:
        for k in BYTES:
            value = byte(lane, k)
            if value is not None:
                word |= value << 32 * lane + 8 * k
                mask |= 0xFF << 32 * lane + 8 * k
    return Rewrite(zero, word, mask, mask_of(column in columns for column in LANES))


def marked_in_lane_order(gating: Gating, old: Zero, result: Result) -> tuple[list[bool], list[bool]]:
    """The new zero mask and R-bits, `coalescing = off`."""
    z, reordered = bits(old.mask), bits(old.reorder)[:8]
    if gating is Gating.ACTIVE:
        return [False] * 32, [False] * 8
    new = result.in_lane(old.mask)
    if gating is Gating.IN_LANE:
        return new, [False] * 8
    for g in GROUPS:
        granules = [result.granule_is_zero(g, k) for k in BYTES]
        lanes = [result.lane_is_zero(lane) for lane in group(g)]
        if result.free(g):
            reordered[g] = sum(granules) > sum(lanes)
            new[4 * g : 4 * g + 4] = granules if reordered[g] else lanes
        elif reordered[g]:
            new[4 * g : 4 * g + 4] = [z[4 * g + k] and granules[k] for k in BYTES]
    return new, reordered


def lane_order(gating: Gating, old: Zero, result: Result) -> Rewrite:
    """The bytes that a write stores, `coalescing = off`."""
    z, columns = bits(old.mask), set()
    new, reordered = marked_in_lane_order(gating, old, result)

    def byte(lane: int, k: int) -> int | None:
        g = lane // 4
        bit = 4 * g + k if reordered[g] else lane
        completed = reordered[g] and not result.free(g) and z[bit]
        if new[bit] or not (result.executes[lane] or completed):
            return None
        columns.add(bit)
        return result.values[lane] >> 8 * k & 0xFF

    return written(Zero(mask_of(new), mask_of(reordered)), columns, byte)


def interleaved(gating: Gating, old: Zero, encoding: Encoding, new_encoding: Encoding, result: Result) -> Rewrite:
    """The bytes that a write stores, `coalescing = on`."""
    z, new, columns = bits(old.mask), [False] * 32, set()
    was = [z[8 * k + g] if k < encoding.width else not encoding.sign for k in BYTES for g in GROUPS]
    if gating is Gating.IN_LANE:
        new = result.in_lane(old.mask)
    elif gating is Gating.CROSS_LANE:
        new = [result.granule_is_zero(g, k) and (result.free(g) or was[8 * k + g]) for k in BYTES for g in GROUPS]

    def of_others(lane: int, k: int, granule: int) -> int | None:
        if k >= encoding.width:
            in_lane = gating is Gating.IN_LANE and z[lane]
            return None if in_lane else 0xFF * encoding.sign
        return 0 if gating is Gating.CROSS_LANE and was[granule] else None

    def byte(lane: int, k: int) -> int | None:
        granule = 8 * k + lane // 4
        if k >= new_encoding.width or (gating is Gating.CROSS_LANE and new[granule]):
            return None
        if result.executes[lane]:
            value = None if gating is Gating.IN_LANE and new[lane] else result.values[lane] >> 8 * k & 0xFF
        else:
            value = None if result.full else of_others(lane, k, granule)
        if value is not None:
            columns.add(8 * (3 - k if new_encoding.left else k) + lane // 4)
        return value

    return written(Zero(mask_of(new)), columns, byte)


def random_word() -> int:
    """A result with zeros of all kinds: lanes, upper bytes, granules, and the sign above narrow values."""
    keep = random.choice([0xFF, 0x7F, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF])
    values = []
    for _ in GROUPS:
        granules = random.choice([0, 0xFF, 0xFF00, 0xFF0000FF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF])
        values += [random.choice([0, ALL_LANES, ALL_LANES]) & random.getrandbits(32) & keep & granules
                   for _ in range(4)]
    return join([value ^ ALL_LANES for value in values] if random.random() < 0.2 else values)


def random_lanes() -> int:
    some = random.getrandbits(32)
    return random.choice([ALL_LANES, some, some | random.getrandbits(32), 0x0000FFFF]) or 1


def random_zero(gating: Gating, *, reordered: bool) -> Zero:
    """A possible zero mask of a register; empty with `ACTIVE`."""
    if gating is Gating.ACTIVE:
        return Zero(0)
    mask = random.getrandbits(32) | random.choice([0, random.getrandbits(32)])
    return Zero(mask, random.getrandbits(8) if reordered and gating is Gating.CROSS_LANE else 0)


def random_encoding() -> Encoding:
    return Encoding(random.randint(1, 4), random.getrandbits(1), bool(random.getrandbits(1)))


GATINGS = pytest.mark.parametrize("gating", [Gating.ACTIVE, Gating.IN_LANE, Gating.CROSS_LANE])


@GATINGS
def test_a_write_in_lane_order(gating: Gating) -> None:
    """New mask, R-bits, word, bytes and columns, for all old zero masks."""
    random.seed(str(gating))
    rules = LaneOrder(gating)
    for _ in range(1000):
        old, word, lanes = random_zero(gating, reordered=True), random_word(), random_lanes()
        for full in (False, True):
            assert rules.renew(old, word, lanes, full) == lane_order(gating, old, Result(word, lanes, full))


@GATINGS
def test_an_interleaved_write(gating: Gating) -> None:
    """New mask, word, bytes and columns, for all old zero masks and encodings."""
    random.seed(str(gating))
    rules = Interleaved(gating)
    for _ in range(1000):
        old, encoding = random_zero(gating, reordered=False), random_encoding()
        word, lanes = random_word(), random_lanes()
        for full in (False, True):
            stored = width.renew(encoding, word, lanes, full, side=not encoding.left)
            wanted = interleaved(gating, old, encoding, stored.encoding, Result(word, lanes, full))
            assert rules.renew(old, encoding, stored, word, lanes, full) == wanted


@GATINGS
def test_a_read_in_lane_order(gating: Gating) -> None:
    """A read with `coalescing = off`: needed columns, forced zeros, known zeros."""
    random.seed(str(gating))
    rules = LaneOrder(gating)
    for _ in range(1000):
        zero, word, lanes = random_zero(gating, reordered=True), random_word(), random_lanes()
        z, executes, reordered = bits(zero.mask), bits(lanes), bits(zero.reorder)
        needs = [(any(executes[lane] for lane in group(c // 4)) if reordered[c // 4] else executes[c]) and not z[c]
                 for c in LANES]
        assert rules.needed(lanes, zero) == mask_of(needs)
        columns = split(reorder(word, zero.reorder))
        forced = join(0 if z[c] else columns[c] for c in LANES)
        assert rules.restore(word, zero) == reorder(forced, zero.reorder)
        known = [all(z[c] for c in group(lane // 4)) if reordered[lane // 4] else z[lane] for lane in LANES]
        assert rules.known_zero(zero) == mask_of(known)


@GATINGS
def test_an_interleaved_read(gating: Gating) -> None:
    """The same for `coalescing = on`; above the width are copies of the sign."""
    random.seed(str(gating))
    rules, across = Interleaved(gating), gating is Gating.CROSS_LANE
    for _ in range(1000):
        zero, encoding = random_zero(gating, reordered=False), random_encoding()
        word, lanes = random_word(), random_lanes()
        z, stored = bits(zero.mask), range(encoding.width)
        is_zero = [[z[8 * k + lane // 4] if k in stored else not encoding.sign for k in BYTES] if across
                   else [z[lane]] * 4 for lane in LANES]
        needs = {8 * (3 - k if encoding.left else k) + lane // 4 for lane in LANES for k in stored
                 if lanes >> lane & 1 and not is_zero[lane][k]}
        assert rules.needed(lanes, zero, encoding) == mask_of(column in needs for column in LANES)
        read = [sum((0 if is_zero[lane][k] else value >> 8 * k & 0xFF if k in stored else 0xFF * encoding.sign) << 8 * k
                    for k in BYTES) for lane, value in enumerate(split(word))]
        assert rules.restore(word, zero, encoding) == join(read)
        assert rules.known_zero(zero, encoding) == mask_of(all(is_zero[lane]) for lane in LANES)


@pytest.mark.parametrize("arrangement", [LaneOrder, Interleaved])
def test_constants(arrangement: type[LaneOrder] | type[Interleaved]) -> None:
    """A slot without a register is known zero if it is zero and there is a zero mask."""
    for gating in (Gating.IN_LANE, Gating.CROSS_LANE):
        assert arrangement(gating).constant(0) == Zero(ALL_LANES)
        assert arrangement(gating).constant(1) == Zero(0)
    assert arrangement(Gating.ACTIVE).constant(0) == Zero(0)
