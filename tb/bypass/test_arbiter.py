"""Bench of the rotating arbiters: hardware against the wavefronts of `golden_model`, for collectors that request one
bank at a time; and no read waits for N cycles in a row without writes."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

import cocotb
import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.fields import index_bits
from warploom.golden_model.coalescing.arbiter import Decision, Read
from warploom.tb import pipes, runner, write_paths
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.coalescing import test_arbiter as coalescing
from warploom.tb.coalescing.test_arbiter import LEFT, RIGHT, Matrix
from warploom.tb.codec import join
from warploom.tb.narrow_values import some_widths
from warploom.tb.test_arbiter import ArbiterCheck, points

CYCLES = 3000


def targets(rng: Random, banks: int, collectors: int) -> list[int | None]:
    """The bank that each collector requests: few or all of the collectors, spread over banks or crowded."""
    density, reach = rng.random(), rng.choice((1, 2, banks, banks))
    if collectors >= banks and rng.random() < 0.1:
        return rng.sample([*range(banks), *[None] * (collectors - banks)], collectors)
    first = rng.randrange(banks)
    return [(first + rng.randrange(reach)) % banks if rng.random() < density else None for _ in range(collectors)]


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Random requests, which stay for some cycles."""
    rng, config = source(), ports.config
    activity = [busy(rng, 0.5) for _ in config.pipes]
    for _ in range(CYCLES // 2):
        wanted = targets(rng, config.banks, config.collectors)
        reads = [sum(1 << c for c, bank in enumerate(wanted) if bank == b) for b in range(config.banks)]
        for _ in range(rng.randint(1, 4)):
            yield {
                "write_request": sum(next(active) << i for i, active in enumerate(activity)),
                "write_bank": join([rng.randrange(config.banks) for _ in config.pipes], index_bits(config.banks)),
                "read_request": join(reads, config.collectors),
            }


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Plain requests."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage(*points(ports.config))
    await exercise(ports, stimuli(ports), ArbiterCheck(ports, checker, coverage), checker)
    coverage.finish()


POINTS = (
    "SFU waits for its path", "MEM waits for sub-banks", "two writes in one bank", "a read beside a write",
    "a write before a read", "idle", "two reads of one bank", "a bank in full use", "second after a refused one",
)
YIELDED = "a read gives way to a write that waits"


def masked_stimuli(matrix: Matrix) -> Iterator[Stimulus]:
    """Random requests, narrow to wide, or of widths such that any two of both sides fill a bank."""
    rng = source()
    activity = [busy(rng, 0.5) for _ in matrix.writers]
    for _ in range(CYCLES // 2):
        right = rng.randrange(1, SUB_BANKS)
        widths = rng.choice((some_widths(rng), ((right,), (SUB_BANKS - right,))))
        wanted = targets(rng, matrix.banks, matrix.collectors)
        reads = [Read(bank, side := rng.choice((RIGHT, LEFT)), collector, rng.choice(widths[side]))
                 for collector, bank in enumerate(wanted) if bank is not None]
        for _ in range(rng.randint(1, 4)):
            writes = [coalescing.random_write(rng, matrix, widths) if next(active) else None for active in activity]
            waiting = rng.getrandbits(len(writes)) if matrix.yields and rng.random() < 0.5 else 0
            yield matrix.stimulus(writes, reads, rng.getrandbits(4), waiting)


class MaskedCheck(coalescing.ArbiterCheck):
    """The checks of the other arbiter; and the bound on waiting for both sides."""

    def __init__(self, matrix: Matrix, checker: Checker, coverage: Coverage) -> None:
        super().__init__(matrix, checker, coverage)
        self._waited: dict[Read, int] = {}

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        super().__call__(seen)
        writes, reads = self._matrix.requests(seen)
        granted = self._matrix.granted(seen, reads)
        pending = self._matrix.pending(seen)
        refused = {read.bank for read in reads if read not in granted}
        written = {write[0] for i, write in enumerate(writes) if write and seen["write_grant"] >> i & 1}
        if self._matrix.yields:
            self._coverage.hit(YIELDED, any(write and write[0] in refused - written for write in pending))
            written = {write[0] for write in filter(None, pending)}
        self._waited = {read: self._waited.get(read, 0) + 1 for read in reads
                        if read not in granted and read.bank not in written}
        bound = max(self._matrix.banks, self._matrix.collectors)
        self._checker.holds("no read starves", all(cycles < bound for cycles in self._waited.values()))

    def _cover_reads(self, reads: Sequence[Read], granted: Sequence[Read], expected: Decision) -> None:
        cover = self._coverage.hit
        for one, other in combinations(expected.reads, 2):
            if one.bank != other.bank:
                continue
            cover("two reads of one bank")
            cover("a bank in full use", one.mask | other.mask == 15)
            cover("second after a refused one", any(
                self._between(one, refused, other) for refused in reads if refused not in granted))

    def _between(self, one: Read, refused: Read, other: Read) -> bool:
        """Whether the refused request comes after the first and before the second that are granted in its bank."""
        diagonal, size = self._model.diagonal, self._model.size
        steps = [(read.bank + read.collector - diagonal) % size for read in (one, refused, other)]
        return one.bank == refused.bank and steps == sorted(steps)


@cocotb.test()
async def random_masks(dut: cocotb.handle.SimHandleBase) -> None:
    """Requests with masks."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    matrix = Matrix(ports.config)
    coverage = Coverage(*POINTS, *((YIELDED,) if matrix.yields else ()))
    await exercise(ports, masked_stimuli(matrix), MaskedCheck(matrix, checker, coverage), checker)
    coverage.finish()


def _run(preset: str, settings: Sequence[str], unit: str, testcase: str, seed: int) -> None:
    made = runner.build(SmConfig.preset(preset).with_settings([*settings]), unit)
    runner.run(made, "warploom.tb.bypass.test_arbiter", seed, testcase=testcase)


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("preset", ["small", "narrow", "pascal"])
def test_arbiter(preset: str, seed: int) -> None:
    _run(preset, ["bypass=bow"], "RotatingArbiter", "random_requests", seed)


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [write_paths.ONE_EACH, pipes.TWO_SP], ids=["one each", "two that take turns"])
def test_other_write_paths(settings: Sequence[str], seed: int) -> None:
    _run("small", ["bypass=bow", *settings], "RotatingArbiter", "random_requests", seed)


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize(("preset", "delay"), [("small", "off"), ("narrow", "off"), ("small", "on")],
                         ids=["small", "narrow", "yields"])
def test_coalescing_arbiter(preset: str, delay: str, seed: int) -> None:
    settings = ["bypass=bow", "coalescing=on", f"window_delay={delay}"]
    _run(preset, settings, "RotatingCoalescingArbiter", "random_masks", seed)
