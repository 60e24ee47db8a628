"""Bench of the arbiter of selected reads: hardware against `warploom.golden_model.arbiter`."""

from collections.abc import Iterator, Sequence

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.mechanisms.pipelined import SETTING
from warploom.golden_model.arbiter import Arbiter
from warploom.tb import pipes, runner, write_paths
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.codec import join
from warploom.tb.operands.test_collector import mask_of

CYCLES = 4000

POINTS = ("a write takes a bank that is to be read", "all banks are read", "idle")


def stimuli(config: SmConfig) -> Iterator[Stimulus]:
    """Random writes, and reads that ports have selected."""
    rng, banks = source(), config.banks
    activity = [busy(rng, 0.5) for _ in config.pipes]
    for _ in range(CYCLES):
        writes = [next(active) for active in activity]
        density = rng.choice((0.3, 0.9))
        yield {
            "write_request": mask_of(writes),
            "write_bank": join([rng.randrange(banks) for _ in writes], index_bits(banks)),
            "valid": sum((rng.random() < density) << port for port in range(banks)),
        }


class ArbiterCheck:
    """Grants equal those of the model, in which every bank is read by a collector of its own."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        config = ports.config
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._banks, self._paths = range(config.banks), config.write_paths
        self._model = Arbiter(config.banks, config.collectors, config.write_paths, config.rotating_paths)

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        targets = self._codecs["write_bank"].array(seen["write_bank"])
        writes = [bank if seen["write_request"] >> i & 1 else None for i, bank in enumerate(targets)]
        valid = [seen["valid"] >> bank & 1 for bank in self._banks]
        write_grants, read_grants = self._model.arbitrate(writes, [is_ << bank for bank, is_ in enumerate(valid)])
        check, hit = self._checker.equal, self._coverage.hit
        check("diagonal", seen["diagonal"], self._model.diagonal)
        check("first_path", seen.get("first_path", 0), self._paths.index(self._model.order[0]))
        check("write_grant", seen["write_grant"], mask_of(write_grants))
        check("grant", seen["grant"], mask_of(bank is not None for bank in read_grants))
        hit("a write takes a bank that is to be read", any(bank is not None and valid[bank] for bank in writes))
        hit("all banks are read", None not in read_grants)
        hit("idle", not any(valid) and not seen["write_request"])
        self._model.advance()


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Writes and reads of banks."""
    ports, checker, coverage = Ports(dut), Checker(minimum=3 * CYCLES), Coverage(*POINTS)
    await exercise(ports, stimuli(ports.config), ArbiterCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    pipes.TWO_SP, *(pytest.param(each, marks=pytest.mark.long) for each in ((), write_paths.ONE_EACH))],
    ids=["two that take turns", "small", "one each"])
def test_arbiter(settings: Sequence[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["bypass=bow", SETTING, *settings])
    runner.run(runner.build(config, "PipelinedArbiter"), "warploom.tb.pipelined.test_arbiter", seed)
