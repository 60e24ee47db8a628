"""Bench of the arbiter: hardware against `warploom.golden_model.arbiter`, and the worked example of
[RADAIDEH], Fig. 3.16(a)."""

from collections.abc import Iterator, Sequence

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.pipes import WritePaths
from warploom.golden_model.arbiter import Arbiter
from warploom.golden_model.separable.arbiter import match_of
from warploom.tb import pipes, runner, write_paths
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.codec import join

CYCLES = 3000


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Random requests, sparse to full, sometimes all for one collector. Reads stay for one to four cycles, like those
    of collectors."""
    rng = source()
    config = ports.config
    activity = [busy(rng, 0.5) for _ in config.pipes]
    for _ in range(CYCLES):
        density, every = rng.random(), range(config.collectors)
        collectors = every if rng.random() < 0.8 else [rng.choice(every)]
        reads = [sum((rng.random() < density) << c for c in collectors) for _ in range(config.banks)]
        for _ in range(rng.randint(1, 4)):
            yield {
                "write_request": sum(next(active) << i for i, active in enumerate(activity)),
                "write_bank": join([rng.randrange(config.banks) for _ in config.pipes], index_bits(config.banks)),
                "read_request": join(reads, config.collectors),
            }


class ArbiterCheck:
    """Grants equal the model's; nothing is granted twice; a read waits less than N cycles in a row without writes."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._banks, self._collectors = ports.config.banks, ports.config.collectors
        self._paths = ports.config.write_paths
        self._model = Arbiter(self._banks, self._collectors, self._paths, ports.config.rotating_paths,
                              match_of(ports.config))
        self._waited: dict[tuple[int, int], int] = {}
        self._waiting = WaitingWrites(self._paths, ports.config.rotating_paths)

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        targets = self._codecs["write_bank"].array(seen["write_bank"])
        writes = [bank if seen["write_request"] >> i & 1 else None for i, bank in enumerate(targets)]
        reads = self._codecs["read_request"].array(seen["read_request"])
        granted = self._codecs["read_grant"].array(seen["read_grant"])
        write_grants, read_grants = self._model.arbitrate(writes, reads)
        check = self._checker.equal
        check("diagonal", seen["diagonal"], self._model.diagonal)
        check("first_path", seen.get("first_path", 0), self._paths.index(self._model.order[0]))
        check("write_grant", seen["write_grant"], sum(grant << i for i, grant in enumerate(write_grants)))
        for bank, collector in enumerate(read_grants):
            check(f"read_grant[{bank}]", granted[bank], 0 if collector is None else 1 << collector)
        self._model.advance()
        self._properties(writes, reads, granted, seen["write_grant"])

    def _properties(self, writes: list[int | None], reads: list[int], granted: list[int], write_grant: int) -> None:
        taken = [bank for i, bank in enumerate(writes) if bank is not None and write_grant >> i & 1]
        granted_writers = [writer for writer in range(len(writes)) if write_grant >> writer & 1]
        longest = self._waiting.longest(writes, granted_writers)
        self._checker.holds("the first of a path is granted in its turn", longest < self._waiting.bound)
        for path in self._paths:
            asking = [writer for writer in path if writes[writer] is not None]
            served = [writer for writer in path if writer in granted_writers]
            self._checker.holds("the first of a path goes, if any", served in ([], asking[:1]))
            if len(path) > 1:
                waiting = any(writes[writer] not in taken for writer in asking[1:])
                self._coverage.hit("a writer waits for its path", waiting)
            if len(self._paths) > 1:
                self._coverage.hit("a writer waits for its bank", asking and not served)
        self._checker.holds("one write for each bank", len(taken) == len(set(taken)))
        self._checker.holds("no read of a bank that is written", all(not granted[bank] for bank in taken))
        union = 0
        for bank, mask in enumerate(granted):
            self._checker.holds("grants answer requests", not mask & ~reads[bank])
            self._checker.holds("one grant for each bank and collector", not mask & union and mask.bit_count() <= 1)
            union |= mask
            for collector in range(self._collectors):
                key = bank, collector
                waits = reads[bank] >> collector & 1 and not mask >> collector & 1
                self._waited[key] = self._waited.get(key, 0) + 1 if waits and bank not in taken else 0
                bound = max(self._banks, self._collectors)
                self._checker.holds("no read starves", self._waited[key] < bound)
        if len(self._paths) > 1:
            self._coverage.hit("two writes", len(taken) >= 2)
        self._coverage.hit("write beats read", any(reads[bank] for bank in taken))
        if self._collectors >= self._banks:
            self._coverage.hit("all banks read", all(granted))
        self._coverage.hit("idle", not any(granted) and not taken)


def points(config: SmConfig) -> list[str]:
    """Coverage points of arbiters."""
    paths = config.write_paths
    shared = ["a writer waits for its path"] if any(len(path) > 1 for path in paths) else []
    several = ["a writer waits for its bank", "two writes"] if len(paths) > 1 else []
    wide = ["all banks read"] if config.collectors >= config.banks else []
    return [*shared, *several, *wide, "write beats read", "idle"]


class WaitingWrites:
    """Waiting time of the first writer of each path that takes turns; if none does, of the first path, which is never
    refused."""

    def __init__(self, paths: WritePaths, rotating: int) -> None:
        self._paths, self.bound = paths[:rotating], rotating
        self._waited = [0] * rotating

    def longest(self, writes: Sequence[object], granted: Sequence[int]) -> int:
        """The maximum number of consecutive cycles, up to this one, in which a path's first writer was refused."""
        for number, path in enumerate(self._paths):
            refused = writes[path[0]] is not None and path[0] not in granted
            self._waited[number] = self._waited[number] + 1 if refused else 0
        return max(self._waited)


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Constrained random requests."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage(*points(ports.config))
    await exercise(ports, stimuli(ports), ArbiterCheck(ports, checker, coverage), checker)
    coverage.finish()


FIG_3_16A = [{1, 2}, {0, 3}, {0, 2}, {1, 3}]
"""Collectors that request to read each bank."""

FIG_3_16A_GRANTS = [{(1, 3), (2, 2), (3, 1)}, {(0, 1), (1, 0), (3, 3)}, {(0, 2), (2, 0)}]
"""(bank, collector) granted in each cycle, as the text of the figure lists them."""


async def served(dut: cocotb.handle.SimHandleBase, rows: Sequence[set[int]], grants: Sequence[set[tuple[int, int]]]
                 ) -> None:
    """Requests, by bank the set of collectors, are granted like this, cycle by cycle."""
    ports, checker = Ports(dut), Checker(minimum=len(grants))
    pending = {(bank, collector) for bank, row in enumerate(rows) for collector in row}
    expected = iter(grants)

    def requests() -> Iterator[Stimulus]:
        while pending:
            masks = [sum(1 << c for b, c in pending if b == bank) for bank in range(ports.config.banks)]
            yield {"read_request": join(masks, ports.config.collectors)}

    def check(seen: Observation) -> None:
        masks = ports.codecs["read_grant"].array(seen["read_grant"])
        granted = {(bank, c) for bank, mask in enumerate(masks) for c in range(mask.bit_length()) if mask >> c & 1}
        checker.equal("grants", granted, next(expected))
        pending.difference_update(granted)

    await exercise(ports, requests(), check, checker, partial=True)
    checker.equal("cycles left over", list(expected), [])
    checker.finish()


@cocotb.test()
async def fig_3_16a(dut: cocotb.handle.SimHandleBase) -> None:
    """Three cycles serve the request matrix, with exactly the grants in the text."""
    await served(dut, FIG_3_16A, FIG_3_16A_GRANTS)


@pytest.mark.rtl
@pytest.mark.parametrize("preset", ["small", "narrow"])
def test_arbiter(preset: str, seed: int) -> None:
    made = runner.build(SmConfig.preset(preset), "Arbiter")
    runner.run(made, "warploom.tb.test_arbiter", seed, testcase="random_requests")


@pytest.mark.rtl
@write_paths.for_each
def test_other_write_paths(paths: str, seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(write_paths.OTHERS[paths]), "Arbiter")
    runner.run(made, "warploom.tb.test_arbiter", seed, testcase="random_requests")


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [pipes.TWO_SP, pipes.PATH_EACH], ids=["two paths", "three paths"])
def test_paths_that_take_turns(settings: Sequence[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings([*settings]), "Arbiter")
    runner.run(made, "warploom.tb.test_arbiter", seed, testcase="random_requests")


@pytest.mark.rtl
def test_000_fig_3_16a(seed: int) -> None:
    made = runner.build(SmConfig.preset("narrow"), "Arbiter")
    runner.run(made, "warploom.tb.test_arbiter", seed, testcase="fig_3_16a")
