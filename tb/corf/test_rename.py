"""Bench of the rename table: hardware against `warploom.golden_model.corf.rename`."""

import random
from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.corf.rename import RenameTable
from warploom.rtl.corf.names import PATHS, REGISTERS, SOURCES
from warploom.rtl.corf.rename import RenameTable as Hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.corf.values import Name, array, fields

CYCLES = 5000


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Writes in the whole table, never two in one bank; reads prefer registers written recently or in this cycle."""
    rng, config = source(), ports.config
    active = [busy(rng, 0.7) for _ in range(PATHS)]
    recent = [(0, 0)]
    for _ in range(CYCLES):
        banks = rng.sample(range(config.banks), PATHS)
        names = [(rng.randrange(config.warps) // config.banks * config.banks + bank, rng.randrange(REGISTERS))
                 for bank in banks]
        recent = [*recent[-40:], *names]
        warp = rng.choice(recent)[0]
        known = [register for other, register in recent if other == warp]
        yield {
            "warp": warp,
            "source": array([rng.choice(known) for _ in range(SOURCES)]),
            "partner": array([fields(rng.choice([*recent, *names])) for _ in range(PATHS)]),
            "write": array([{"enable": next(on), "name": fields(name), "entry": entry(rng, config)}
                            for on, name in zip(active, names, strict=True)]),
        }


def entry(rng: random.Random, config: SmConfig) -> int:
    return rng.randrange(config.banks * config.rows)


class RenameCheck:
    """Every look-up of a register that was written before shows, one cycle later, the model's entry."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model = RenameTable()
        self._written: set[Name] = set()
        self._expected: dict[str, list[int | None]] = {"source": [], "partner": []}  # None: unspecified

    def __call__(self, seen: Observation) -> None:
        """Check the look-ups of the previous cycle, then look up and write."""
        for port, expected in self._expected.items():
            found = self._codecs[f"{port}_entry"].array(seen[f"{port}_entry"])
            for known, actual in zip(expected, found, strict=False):
                if known is not None:
                    self._checker.equal(f"{port}_entry", actual, known)
        sources = [(seen["warp"], register) for register in self._codecs["source"].array(seen["source"])]
        partners = [(name["warp"], name["register"])
                    for name in self._codecs["partner"].unpack(seen["partner"]).values()]
        writes = {(update["name"]["warp"], update["name"]["register"]): update["entry"]
                  for update in self._codecs["write"].unpack(seen["write"]).values() if update["enable"]}
        self._expected["source"] = [None if name in writes else self._entry(name) for name in sources]
        for name, number in writes.items():
            self._model.write(*name, number)
        self._written |= writes.keys()
        self._expected["partner"] = [self._entry(name) for name in partners]
        self._cover(sources, partners, set(writes), list(writes))

    def _entry(self, name: Name) -> int | None:
        return self._model.read(*name) if name in self._written else None

    def _cover(self, sources: list[Name], partners: list[Name], writes: set[Name], order: list[Name]) -> None:
        self._coverage.hit("four sources", len({*sources} & self._written) == SOURCES)
        self._coverage.hit("a partner as it is written", {*partners} & writes)
        self._coverage.hit("a partner as the second path writes it", len(order) == PATHS and order[1] in partners)
        self._coverage.hit("a source as it is written", {*sources} & writes)
        self._coverage.hit("two partners of one warp", len({warp for warp, _ in partners}) == 1)
        self._coverage.hit("the last register", any(register == REGISTERS - 1 for _, register in sources))


@cocotb.test()
async def random_names(dut: cocotb.handle.SimHandleBase) -> None:
    """Reads and writes in the whole table."""
    ports, checker = Ports(dut), Checker(minimum=3 * CYCLES)
    coverage = Coverage("four sources", "a partner as it is written", "a partner as the second path writes it",
                        "a source as it is written", "two partners of one warp", "the last register")
    await exercise(ports, stimuli(ports), RenameCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("preset", ["small", "narrow"])
def test_rename(preset: str, seed: int) -> None:
    config = SmConfig.preset(preset)
    made = runner.build(config, "RenameTable", component=Hardware(config=config))
    runner.run(made, "warploom.tb.corf.test_rename", seed)
