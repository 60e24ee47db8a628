"""Bench of the mask table: hardware against `warploom.golden_model.corf.allocation`."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.corf.allocation import MaskTable
from warploom.rtl.corf.allocation import MaskTable as Hardware
from warploom.rtl.corf.names import PATHS, REGISTERS, SOURCES
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.corf.values import Name, array, fields

ROUNDS = 4
"""How often every register is read."""


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Every register is read after reset, and again while others are written, never two of one warp."""
    rng, config = source(), ports.config
    names = [(warp, register) for warp in range(config.warps) for register in range(REGISTERS)]
    recent: list[Name] = []
    for round_ in range(ROUNDS):
        for warp, register in rng.sample(names, len(names)):
            writers = rng.sample(range(config.warps), PATHS)
            targets = [(writer, rng.randrange(REGISTERS)) for writer in writers]
            yield {
                "warp": warp,
                "source": array([register, *(rng.randrange(REGISTERS) for _ in range(SOURCES - 1))]),
                "partner": array([fields(rng.choice([*targets, *recent])) for _ in range(PATHS)]),
                "write": array([{"enable": rng.random() < (0.05, 0.5, 0.9, 0.9)[round_], "name": fields(target),
                                 "mask": rng.randrange(16)} for target in targets]),
            }
            recent = targets


class MaskTableCheck:
    """Every read equals the model's."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model = MaskTable()
        self._written: set[Name] = set()

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then write."""
        sources = [(seen["warp"], register) for register in self._codecs["source"].array(seen["source"])]
        partners = [(name["warp"], name["register"])
                    for name in self._codecs["partner"].unpack(seen["partner"]).values()]
        for port, names in (("source", sources), ("partner", partners)):
            masks = self._codecs[f"{port}_mask"].array(seen[f"{port}_mask"])
            for name, mask in zip(names, masks, strict=True):
                self._checker.equal(f"{port}_mask of {name}", mask, self._model.read(*name))
                self._coverage.hit(f"{port}, {'written' if name in self._written else 'after reset'}")
        updates = [update for update in self._codecs["write"].unpack(seen["write"]).values() if update["enable"]]
        for update in updates:
            name = update["name"]["warp"], update["name"]["register"]
            self._model.write(*name, update["mask"])
            self._written.add(name)
            self._coverage.hit("read as it is written", name in (*sources, *partners))
        self._coverage.hit("two writes", len(updates) == PATHS)


@cocotb.test()
async def random_masks(dut: cocotb.handle.SimHandleBase) -> None:
    """Reads and writes of every register."""
    ports, checker = Ports(dut), Checker(minimum=6 * ROUNDS * REGISTERS)
    coverage = Coverage("source, written", "source, after reset", "partner, written", "partner, after reset",
                        "read as it is written", "two writes")
    await exercise(ports, stimuli(ports), MaskTableCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_mask_table(seed: int) -> None:
    config = SmConfig.preset("small")
    made = runner.build(config, "MaskTable", component=Hardware(config=config))
    runner.run(made, "warploom.tb.corf.test_mask_table", seed)
