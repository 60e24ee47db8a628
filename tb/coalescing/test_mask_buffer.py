"""Bench of the mask buffer: hardware against `warploom.golden_model.register_file.mask_buffer`."""

import random
from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Alignment
from warploom.golden_model.register_file.mask_buffer import MaskBuffer
from warploom.rtl.register_file.mask_buffer import MaskBuffer as Hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.narrow_values import encoding, encoding_of

SOURCES = 3
READS = SOURCES + 1
"""Addresses read in a cycle: of three sources and a destination."""

ROUNDS = 10
"""How often every address is read, and about as often written: each entry has gates of its own, for each path."""

Address = tuple[int, int]
"""Bank and row."""


def fields(config: SmConfig, address: Address, left: bool) -> dict[str, int]:
    """An address in the format of a port: with the side only if register numbers decide it."""
    bank, row = address
    return {"bank": bank, "row": row, "left": left and config.alignment is Alignment.REG}


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Every address is read after reset, and again after some addresses were written; reads prefer addresses that are
    written in the same or the previous cycle."""
    rng, config = source(), ports.config
    addresses = [(bank, row) for bank in range(config.banks) for row in range(config.rows)]
    recent: list[Address] = []
    for round_ in range(ROUNDS):
        for address in rng.sample(addresses, len(addresses)):
            targets = rng.sample(addresses, len(config.write_paths))
            reads = [address, *(rng.choice([*targets, *recent]) for _ in range(READS - 1))]
            rng.shuffle(reads)
            recent = targets
            yield {
                "lookup__address": array([fields(config, read, rng.random() < 0.5) for read in reads]),
                "lookup__taken": rng.getrandbits(READS),
                **{f"renewal__{path}__{name}": value for path, target in enumerate(targets)
                   for name, value in renewal(rng, config, target, round_).items()},
            }


def renewal(rng: random.Random, config: SmConfig, address: Address, round_: int) -> dict[str, object]:
    """A write; rare in the first round, which tests the encodings after reset."""
    enable = rng.random() < (0.7 if round_ else 0.05)
    return {"enable": enable, "address": fields(config, address, rng.random() < 0.5), "metadata": encoding(rng).packed}


def array(elements: list[dict[str, int]]) -> dict[str, object]:
    """Elements of an array port by number."""
    return {str(i): element for i, element in enumerate(elements)}


class MaskBufferCheck:
    """Every read equals the model's."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model, self._paths = MaskBuffer(ports.config), len(ports.config.write_paths)
        self._written: set[Address] = set()  # by any cycle before this one
        self._just: dict[Address, int] = {}  # by the previous cycle, and by which path

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then write."""
        renewed = {}  # by address: the path that writes it, and the new encoding
        for path in range(self._paths):
            address, metadata = (self._codecs[f"renewal__{path}__{name}"].unpack(seen[f"renewal__{path}__{name}"])
                               for name in ("address", "metadata"))
            if seen[f"renewal__{path}__enable"]:
                renewed[address["bank"], address["row"]] = path, encoding_of(metadata)
        writes = {address: path for address, (path, _) in renewed.items()}
        addresses = self._codecs["lookup__address"].unpack(seen["lookup__address"]).values()
        encodings = self._codecs["lookup__found"].array(seen["lookup__found"])
        for address, actual in zip(addresses, encodings, strict=True):
            bank, row = where = address["bank"], address["row"]
            expected = self._model.read(bank, row, bool(address["left"]))
            self._checker.equal(f"encoding of {where}", actual, expected.packed)
            self._coverage.hit("after reset" if where not in self._written else "written")
            self._coverage.hit("the cycle after a write of the second path", self._just.get(where) == 1)
            self._coverage.hit("in the cycle of a write", where in writes)
        for (bank, row), (_, new) in renewed.items():
            self._model.write(bank, row, new)
        self._coverage.hit("two writes", len(writes) == 2)
        self._written |= writes.keys()
        self._just = writes


@cocotb.test()
async def random_encodings(dut: cocotb.handle.SimHandleBase) -> None:
    """Reads and writes of every address."""
    ports, checker = Ports(dut), Checker(minimum=READS * ROUNDS * 16)
    coverage = Coverage("after reset", "written", "the cycle after a write of the second path",
                        "in the cycle of a write", "two writes")
    await exercise(ports, stimuli(ports), MaskBufferCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("alignment", ["reg", "write"])
def test_mask_buffer(alignment: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["coalescing=on", f"alignment={alignment}"])
    made = runner.build(config, "MaskBuffer", component=Hardware(config=config))
    runner.run(made, "warploom.tb.coalescing.test_mask_buffer", seed)
