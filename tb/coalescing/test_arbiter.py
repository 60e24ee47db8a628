"""Bench of the coalescing arbiter: hardware against its model, and the examples of [RADAIDEH], Fig. 3.6 and 3.16(b)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from random import Random

import cocotb
import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import SIDES
from warploom.arch.mechanisms import Alignment
from warploom.golden_model.byte_order import sub_bank_mask
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Decision, Read, Write
from warploom.golden_model.coalescing.separable_arbiter import sides_match_of
from warploom.tb import pipes, runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.coalescing.pairs import Pairs
from warploom.tb.codec import join
from warploom.tb.narrow_values import some_widths
from warploom.tb.test_arbiter import WaitingWrites

CYCLES = 4000
RIGHT, LEFT = range(len(SIDES))
Requests = tuple[Sequence[Write | None], Sequence[Read]]

POINTS = (
    "SFU waits for its path", "MEM waits for sub-banks", "two writes in one bank", "a read beside a write",
    "a write before a read", "two reads of one bank", "two reads of one collector", "all of a cell", "left after right",
    "slices are taken", "a bank in full use", "idle",
)


class Matrix:
    """Ports as requests and grants, and back."""

    def __init__(self, config: SmConfig) -> None:
        self.banks, self.collectors = config.banks, config.collectors
        self.writers, self.paths, self.rotating = config.writers, config.write_paths, config.rotating_paths
        self.cells = list(product(range(self.banks), (RIGHT, LEFT), range(self.collectors)))
        self.yields, self.match = config.yields_to_pending, sides_match_of(config)
        self._bank_bits = index_bits(config.banks)

    def stimulus(self, writes: Sequence[Write | None], reads: Iterable[Read], other_masks: int = 0,
                 waiting: int = 0) -> Stimulus:
        """Inputs; `other_masks` are the masks of reads that are not requested. `waiting`: the writers whose write is
        pending, and not requested."""
        masks = {read[:3]: read.mask for read in reads}
        banks, sides, widths = zip(*(write or (0, 0, 1) for write in writes), strict=True)
        pending = sum((write is not None) << i for i, write in enumerate(writes))
        return {
            "write_request": pending & ~waiting,
            **({"write_pending": pending} if self.yields else {}),
            "write_bank": join(list(banks), self._bank_bits),
            "write_mask": join([sub_bank_mask(*pair) for pair in zip(widths, sides, strict=True)], SUB_BANKS),
            "read_request": join([cell in masks for cell in self.cells], 1),
            "read_mask": join([masks.get(cell, other_masks) for cell in self.cells], SUB_BANKS),
        }

    def requests(self, seen: Observation) -> Requests:
        """The requests in a cycle's inputs."""
        masks = [seen["read_mask"] >> SUB_BANKS * i & 15 for i in range(len(self.cells))]
        reads = [Read(*self.cells[i], masks[i].bit_count()) for i in _ones(seen["read_request"])]
        return self._writes(seen, seen["write_request"]), reads

    def pending(self, seen: Observation) -> list[Write | None]:
        """The writes to which reads give way, requested or not, if the arbiter is told of them."""
        return self._writes(seen, seen.get("write_pending", 0))

    def _writes(self, seen: Observation, writers: int) -> list[Write | None]:
        """The writes of these writers."""
        writes: list[Write | None] = []
        for i in range(len(self.writers)):
            mask = seen["write_mask"] >> SUB_BANKS * i & 15
            bank = seen["write_bank"] >> self._bank_bits * i & (1 << self._bank_bits) - 1
            writes.append((bank, LEFT if mask >> 3 else RIGHT, mask.bit_count()) if writers >> i & 1 else None)
        return writes

    def granted(self, seen: Observation, reads: Sequence[Read]) -> list[Read]:
        """The granted reads."""
        cells = {self.cells[i] for i in _ones(seen["read_grant"])}
        return [read for read in reads if read[:3] in cells]

    def slices(self, reads: Iterable[Read]) -> int:
        """The port `slice_grant` for granted reads."""
        return sum(1 << (k * self.banks + read.bank) * self.collectors + read.collector
                   for read in reads for k in _ones(read.mask))


def _ones(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def stimuli(matrix: Matrix) -> Iterator[Stimulus]:
    """Random requests, sparse to full, that stay for some cycles like those of collectors."""
    rng = source()
    activity = [busy(rng, 0.5) for _ in matrix.writers]
    for _ in range(CYCLES // 4):
        density, widths = rng.random(), some_widths(rng)
        reads = [Read(*cell, rng.choice(widths[cell[1]])) for cell in matrix.cells if rng.random() < density]
        for _ in range(rng.randint(1, 8)):
            writes = [random_write(rng, matrix, widths) if next(active) else None for active in activity]
            yield matrix.stimulus(writes, reads, rng.getrandbits(SUB_BANKS))


def random_write(rng: Random, matrix: Matrix, widths: Sequence[Sequence[int]]) -> Write:
    """A write of any bank and side; widths to choose from, for each side."""
    bank, side = rng.randrange(matrix.banks), rng.choice((RIGHT, LEFT))
    return bank, side, rng.choice(widths[side])


class ArbiterCheck:
    """Grants equal the model's; granted requests share no sub-bank and no slice; slices follow the masks."""

    def __init__(self, matrix: Matrix, checker: Checker, coverage: Coverage) -> None:
        self._matrix, self._checker, self._coverage = matrix, checker, coverage
        self._model = CoalescingArbiter(matrix.banks, matrix.collectors, Alignment.REG, matrix.paths, matrix.rotating,
                                        match=matrix.match)
        self._waiting = WaitingWrites(matrix.paths, matrix.rotating)

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        writes, reads = self._matrix.requests(seen)
        expected = self._model.decide(writes, reads, pending=self._matrix.pending(seen))
        granted = self._matrix.granted(seen, reads)
        check, holds = self._checker.equal, self._checker.holds
        check("diagonal", seen["diagonal"], self._model.diagonal)
        check("first_path", seen.get("first_path", 0), self._matrix.paths.index(self._model.order[0]))
        check("write_grant", seen["write_grant"], sum(grant << i for i, grant in enumerate(expected.writes)))
        longest = self._waiting.longest(writes, [i for i, grant in enumerate(expected.writes) if grant])
        holds("the first of a path is granted in its turn", longest < self._waiting.bound)
        check("read_grant", granted, sorted(expected.reads))
        holds("grants answer requests", seen["read_grant"].bit_count() == len(granted))
        check("slice_grant", seen["slice_grant"], self._matrix.slices(granted))
        written = [write for i, write in enumerate(writes) if write and seen["write_grant"] >> i & 1]
        for group in self._sharing(written, granted).values():
            holds("granted requests hold different sub-banks and slices",
                  sum(mask.bit_count() for mask in group) == _union(group).bit_count())
        self._cover_writes(writes, written, granted, set(reads) - set(granted))
        self._cover_reads(reads, granted, expected)
        self._model.advance()

    def _sharing(self, written: Sequence[Write], granted: Sequence[Read]) -> dict[tuple[str, int], list[int]]:
        """Masks granted in each bank and at each collector."""
        groups: dict[tuple[str, int], list[int]] = {}
        for bank, side, width in written:
            groups.setdefault(("bank", bank), []).append(sub_bank_mask(width, side == LEFT))
        for read in granted:
            groups.setdefault(("bank", read.bank), []).append(read.mask)
            groups.setdefault(("collector", read.collector), []).append(read.mask)
        return groups

    def _cover_writes(self, writes: Sequence[Write | None], written: Sequence[Write], granted: Sequence[Read],
                      refused: set[Read]) -> None:
        cover, banks = self._coverage.hit, [write[0] for write in written]
        sp, *_, sfu, mem = writes
        cover("SFU waits for its path", sp and sfu and sp[0] != sfu[0])
        cover("MEM waits for sub-banks", mem and mem not in written)
        cover("two writes in one bank", len(set(banks)) < len(banks))
        cover("a read beside a write", any(read.bank in banks for read in granted))
        cover("a write before a read", any(read.bank in banks for read in refused))
        cover("idle", not written and not granted)

    def _cover_reads(self, reads: Sequence[Read], granted: Sequence[Read], expected: Decision) -> None:
        cover, taken = self._coverage.hit, {read[:3] for read in granted}
        for one, other in combinations(granted, 2):
            cover("two reads of one bank", one.bank == other.bank and one.collector != other.collector)
            cover("two reads of one collector", one.collector == other.collector and one.bank != other.bank)
            cover("all of a cell", (one.bank, one.collector) == (other.bank, other.collector))
            cover("a bank in full use", one.bank == other.bank and one.mask | other.mask == 15)
        cover("left after right", any(read.side == LEFT and read[:3] not in taken
                                      and (read.bank, RIGHT, read.collector) in taken for read in reads))
        cover("slices are taken", expected.port_conflicts)


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Constrained random requests."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage(*POINTS)
    matrix = Matrix(ports.config)
    await exercise(ports, stimuli(matrix), ArbiterCheck(matrix, checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def pairs_of_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Every two reads that may conflict, at every priority diagonal, with and without a write."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES // 4)
    matrix = Matrix(ports.config)
    pairs = Pairs(matrix.banks, matrix.collectors, matrix.writers)
    coverage, rng = Coverage(*pairs.points()), source()
    alike = ArbiterCheck(matrix, checker, Coverage(*POINTS))

    def check(seen: Observation) -> None:
        alike(seen)
        writes, reads = matrix.requests(seen)
        granted = matrix.granted(seen, reads)
        if len(reads) == 2:
            pairs.cover(coverage, seen["diagonal"], reads, granted)
        else:
            answered = [write and (write, bool(seen["write_grant"] >> i & 1)) for i, write in enumerate(writes)]
            pairs.cover_writes(coverage, seen["diagonal"], answered, reads[0], bool(granted))

    found = (matrix.stimulus(*requests, rng.getrandbits(SUB_BANKS)) for requests in pairs.requests(rng))
    await exercise(ports, found, check, checker, partial=True)
    coverage.finish()


async def _all_granted(dut: cocotb.handle.SimHandleBase, cases: Iterable[Requests]) -> None:
    """Each case is served in one cycle, for any priority diagonal."""
    ports = Ports(dut)
    matrix, checker = Matrix(ports.config), Checker(minimum=1)

    def check(seen: Observation) -> None:
        checker.equal("write_grant", seen["write_grant"], seen["write_request"])
        checker.equal("read_grant", seen["read_grant"], seen["read_request"])
        checker.holds("something is requested", bool(seen["write_request"] or seen["read_request"]))

    again = [matrix.stimulus(*case) for case in cases for _ in range(max(matrix.banks, matrix.collectors))]
    await exercise(ports, again, check, checker, partial=True)


FIG_3_16B = [
    Read(0, LEFT, 2, 2), Read(0, RIGHT, 1, 2), Read(1, LEFT, 3, 2), Read(1, RIGHT, 0, 1),
    Read(2, LEFT, 0, 3), Read(2, RIGHT, 2, 1), Read(3, LEFT, 1, 1), Read(3, RIGHT, 3, 2),
]
"""Bank, side, collector, and the width of the printed mask."""

FIG_3_16B_MASKS = [0b1100, 0b0011, 0b1100, 0b0001, 0b1110, 0b0001, 0b1000, 0b0011]
"""As printed, sub-bank 3 first."""


@cocotb.test()
async def fig_3_16b(dut: cocotb.handle.SimHandleBase) -> None:
    """All eight requests proceed in the same cycle."""
    assert [read.mask for read in FIG_3_16B] == FIG_3_16B_MASKS
    await _all_granted(dut, [([None] * 3, FIG_3_16B)])


FIG_3_6: dict[str, Requests] = {
    "a: two writes to a bank": ([(0, RIGHT, 2), None, (0, LEFT, 2)], []),
    "b: a read and a write": ([(0, LEFT, 1), None, None], [Read(0, RIGHT, 1, 3)]),
    "c: reads of two instructions": ([None] * 3, [Read(0, RIGHT, 0, 1), Read(0, LEFT, 1, 3)]),
    "d: reads of two banks for one collector": ([None] * 3, [Read(0, RIGHT, 0, 2), Read(1, LEFT, 0, 2)]),
}
"""Requests that the figure coalesces; the widths are ours, as the figure is a drawing."""


@cocotb.test()
async def fig_3_6(dut: cocotb.handle.SimHandleBase) -> None:
    """The requests of each part are granted together."""
    await _all_granted(dut, FIG_3_6.values())


def _build(*settings: str) -> runner.Build:
    return runner.build(SmConfig.preset("narrow").with_settings(["coalescing=on", *settings]), "CoalescingArbiter")


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    (), ("banks=2", "collectors=5"), ("collectors=3",),
    pytest.param(("banks=8", "collectors=3"), marks=pytest.mark.long),
])
@pytest.mark.parametrize("testcase", ["random_requests", "pairs_of_requests"])
def test_arbiter(settings: tuple[str, ...], testcase: str, seed: int) -> None:
    runner.run(_build(*settings), "warploom.tb.coalescing.test_arbiter", seed, testcase=testcase)


@pytest.mark.rtl
def test_000_fig_3_16b(seed: int) -> None:
    runner.run(_build(), "warploom.tb.coalescing.test_arbiter", seed, testcase="fig_3_16b")


@pytest.mark.rtl
def test_000_fig_3_6(seed: int) -> None:
    runner.run(_build(), "warploom.tb.coalescing.test_arbiter", seed, testcase="fig_3_6")


@pytest.mark.rtl
def test_paths_that_take_turns(seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["coalescing=on", *pipes.TWO_SP])
    made = runner.build(config, "CoalescingArbiter")
    runner.run(made, "warploom.tb.coalescing.test_arbiter", seed, testcase="random_requests")
