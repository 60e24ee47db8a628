"""Bench of the zero buffer: hardware against `warploom.golden_model.gating.zero_buffer`."""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fields import pack, width
from warploom.arch.interfaces import zero_fields
from warploom.golden_model.gating.zero_buffer import ZeroBuffer
from warploom.tb import runner, sparse, write_paths
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

READERS = 4
ROUNDS = 3
"""How often every entry is looked up."""

Entry = tuple[int, int, bool]
"""Bank, row and side."""


def entries(config: SmConfig) -> list[Entry]:
    """All entries of the buffer."""
    sides = (False, True) if config.has_sides else (False,)
    return list(product(range(config.banks), range(config.rows), sides))


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Every entry is looked up after reset, and again after some were written. Look-ups prefer entries that were
    written in the previous cycle, and are never of an entry that is being written."""
    rng, config = source(), ports.config
    everything = entries(config)
    recent: list[Entry] = []
    for round_ in range(ROUNDS):
        for entry in rng.sample(everything, len(everything)):
            targets = _apart(rng, len(config.write_paths), [other for other in everything if other != entry])
            reads = [entry, *(rng.choice([other for other in (*recent, entry) if other not in targets])
                              for _ in range(READERS - 1))]
            rng.shuffle(reads)
            recent = targets
            yield {"lookup__address": _array([_address(read) for read in reads]),
                   "lookup__taken": sum((rng.random() < 0.9) << reader for reader in range(READERS)),
                   **{f"renewal__{path}__{name}": value for path, target in enumerate(targets)
                      for name, value in _renewal(rng, config, target, round_).items()}}


def _apart(rng: random.Random, paths: int, everything: list[Entry]) -> list[Entry]:
    """An entry for each path, no two of one bank and side."""
    found: list[Entry] = []
    while len(found) < paths:
        taken = {(bank, left) for bank, _, left in found}
        found.append(rng.choice([entry for entry in everything if (entry[0], entry[2]) not in taken]))
    return found


def _renewal(rng: random.Random, config: SmConfig, entry: Entry, round_: int) -> Stimulus:
    """A write; rare in the first round, which tests the entries after reset."""
    return {"enable": rng.random() < (0.05, 0.5, 0.9)[round_], "address": _address(entry),
            "metadata": {name: rng.getrandbits(bits) for name, bits in zero_fields(config)}}


def _address(entry: Entry) -> dict[str, int]:
    return dict(zip(("bank", "row", "left"), entry, strict=True))


def _array(elements: list[Any]) -> dict[str, Any]:
    return {str(i): element for i, element in enumerate(elements)}


class ZeroBufferCheck:
    """The look-ups of the previous cycle equal the model's; an entry that was never written is zero."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._codecs, self._checker, self._coverage = ports.config, ports.codecs, checker, coverage
        self._model = ZeroBuffer(ports.config)
        self._expected: list[int | None] = [None] * READERS
        self._written: set[Entry] = set()
        self._just: dict[Entry, int] = {}  # entries written by the previous cycle, and by which path

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then write."""
        found = self._codecs["lookup__found"].array(seen["lookup__found"])
        for actual, expected in zip(found, self._expected, strict=True):
            if expected is not None:
                self._checker.equal("found", actual, expected)
        addresses = self._codecs["lookup__address"].unpack(seen["lookup__address"]).values()
        self._expected = [self._read(address) if seen["lookup__taken"] >> reader & 1 else None
                          for reader, address in enumerate(addresses)]
        self._just = {}
        for path in range(len(self._config.write_paths)):
            port = f"renewal__{path}"
            if seen[f"{port}__enable"]:
                entry = _entry(self._codecs[f"{port}__address"].unpack(seen[f"{port}__address"]))
                known = self._codecs[f"{port}__metadata"].unpack(seen[f"{port}__metadata"])
                self._model.write(*entry, sparse.zero_of(known))
                self._written.add(entry)
                self._just[entry] = path
        if len(self._config.write_paths) > 1:
            self._coverage.hit("two writes", len(self._just) == 2)

    def _read(self, address: dict[str, Any]) -> int:
        """The expected result of a look-up."""
        entry = _entry(address)
        zero = self._model.read(*entry)
        for path in range(len(self._config.write_paths)):
            self._coverage.hit(f"the cycle after a write of path {path}", self._just.get(entry) == path)
        self._coverage.hit("after reset" if entry not in self._written else "written")
        values = {"zero": zero.mask, "reorder": zero.reorder}
        return pack(zero_fields(self._config), values)


def _entry(address: dict[str, Any]) -> Entry:
    return address["bank"], address["row"], bool(address["left"])


@cocotb.test()
async def random_entries(dut: cocotb.handle.SimHandleBase) -> None:
    """Look-ups and writes of every entry."""
    ports = Ports(dut)
    checker = Checker(minimum=ROUNDS * len(entries(ports.config)))
    several = ["two writes"] if len(ports.config.write_paths) > 1 else []
    coverage = Coverage("after reset", "written", *several,
                        *(f"the cycle after a write of path {path}" for path in range(len(ports.config.write_paths))))
    await exercise(ports, stimuli(ports), ZeroBufferCheck(ports, checker, coverage), checker)
    assert width(zero_fields(ports.config)) * READERS == ports.codecs["lookup__found"].width
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    ["gating=in_lane"], ["gating=cross_lane"], ["gating=cross_lane", "coalescing=on", "alignment=write"],
    ["gating=in_lane", *write_paths.ONE_FOR_ALL], ["gating=cross_lane", "coalescing=on", *write_paths.ONE_EACH],
], ids=" ".join)
def test_zero_buffer(settings: list[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(settings), "ZeroBuffer")
    runner.run(made, "warploom.tb.gating.test_zero_buffer", seed)
