"""Bench of the predicates of the threads: every reader gets the newest ones."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import PREDICATES
from warploom.rtl.fg_simt.issue_ports import SAUS
from warploom.rtl.fg_simt.predicate_masks import READERS
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise, source
from warploom.tb.codec import join
from warploom.tb.fg_simt.eight_lanes import GROUPS
from warploom.tb.fg_simt.results import POINTS, Storage, fields, stages

BENCH = "warploom.tb.fg_simt.test_predicate_masks"
CYCLES = 2500


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """All readers in every cycle: all predicates of a group, and the one that always holds."""
    ports, checker, coverage, rng = Ports(dut), Checker(minimum=20 * CYCLES), Coverage(*POINTS), source()
    storage, given = Storage(coverage), stages(rng, SAUS, PREDICATES, 1)
    groups: list[int] = []

    def stimulus() -> dict[str, object]:
        writes = next(given)
        storage.begin(writes)
        groups[:] = [rng.randrange(GROUPS) for _ in range(READERS)]
        return {"groups": join(groups, 2), "writes": fields(writes, "predicate", "verdicts", joined=True)}

    def check(seen: Observation) -> None:
        held = ports.codecs["held"].unpack(seen["held"])
        for reader, group in enumerate(groups):
            for number in range(PREDICATES):
                if (expected := storage.read((number, group))) is not None:
                    checker.equal(f"P{number} of group {group}", held[str(reader)][str(number)], join(expected, 1))
            checker.equal("PT", held[str(reader)][str(PREDICATES)], 0xFF)
        storage.end()

    await exercise(ports, (stimulus() for _ in range(CYCLES)), check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_predicates(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "PredicateMasks"), BENCH, seed)
