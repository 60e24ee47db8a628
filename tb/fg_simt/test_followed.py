# amaranth: UnusedElaboratable=no
"""Bench of `Followed`: what an instruction knows of its entries equals what a file has there, in every cycle."""

import random
from collections.abc import Iterator

import cocotb
import pytest

from warploom import store
from warploom.arch.config import SmConfig
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.codec import join

BENCH = "warploom.tb.fg_simt.test_followed"
NUMBER_BITS, WIDTH, COPIES = 5, 49, 4
CYCLES = 5000
POINTS = ("is written as it is read", "the last copy is written as it is read", "becomes unknown as it is held",
          "becomes unknown with a reset", "is written in the cycle of a reset", "another one is written")


class File:
    """The file that is followed, and the instruction that comes first. An entry is known in bit 0, its value above."""

    def __init__(self) -> None:
        self.entries = [0] * (1 << NUMBER_BITS)
        self.first = [0] * COPIES

    def stimulus(self, rng: random.Random, advance: bool, reset: bool) -> Stimulus:
        """Inputs of a cycle. Without `advance` an entry may only become unknown."""
        ahead = [rng.randrange(len(self.entries)) for _ in range(COPIES)]
        return {
            "ahead": join(ahead, NUMBER_BITS), "advance": advance, "reset": reset,
            "found": join([self.entries[number] for number in ahead], WIDTH + 1),
            "written": {"valid": rng.random() < 0.5, "number": rng.randrange(len(self.entries)),
                        "entry": {"known": advance and rng.random() < 0.8, "value": rng.getrandbits(WIDTH)}},
        }

    def step(self, ahead: list[int], advance: int, written: dict[str, int], reset: int) -> None:
        """The end of a cycle."""
        if written["valid"]:
            self.entries[written["number"]] = written["entry"]
        if reset:
            self.entries = [0] * len(self.entries)
        if advance:
            self.first = ahead


def stimuli(file: File) -> Iterator[Stimulus]:
    """Instructions that come in bursts, and writes; first a reset, since nothing is known of the copies before."""
    rng = source()
    comes = busy(rng, 0.5)
    yield file.stimulus(rng, advance=True, reset=True)
    for _ in range(CYCLES):
        yield file.stimulus(rng, next(comes), rng.random() < 0.02)


class FollowedCheck:
    """Copies equal the entries of the file: whether they are known, and if so, their values."""

    def __init__(self, ports: Ports, file: File, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._file, self._checker, self._coverage = ports.codecs, file, checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        file = self._file
        if self._checker.cycle:
            for copy, held in enumerate(self._codecs["held"].array(seen["held"])):
                expected = file.entries[file.first[copy]]
                self._checker.equal(f"copy {copy}", held if expected & 1 else held & 1, expected if expected & 1 else 0)
        ahead = self._codecs["ahead"].array(seen["ahead"])
        written = self._codecs["written"].unpack(seen["written"])
        written["entry"] = written["entry"]["known"] | written["entry"]["value"] << 1
        self._count(ahead, seen["advance"], written, seen["reset"])
        file.step(ahead, seen["advance"], written, seen["reset"])

    def _count(self, ahead: list[int], advance: int, written: dict[str, int], reset: int) -> None:
        hit, number = self._coverage.hit, written["number"]
        known = written["valid"] and written["entry"] & 1
        held = [copy for copy in self._file.first if self._file.entries[copy] & 1]
        hit("is written as it is read", advance and known and number == ahead[0] and not reset)
        hit("the last copy is written as it is read", advance and known and number == ahead[-1] and not reset)
        hit("becomes unknown as it is held", not advance and written["valid"] and number in held)
        hit("another one is written", not advance and written["valid"] and bool(held) and number not in held)
        hit("becomes unknown with a reset", reset and not advance and bool(held))
        hit("is written in the cycle of a reset", reset and advance and known and number in ahead)


@cocotb.test()
async def random_writes(dut: cocotb.handle.SimHandleBase) -> None:
    """Instructions and writes at random."""
    ports, file = Ports(dut), File()
    checker, coverage = Checker(minimum=COPIES * CYCLES), Coverage(*POINTS)
    await exercise(ports, stimuli(file), FollowedCheck(ports, file, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_followed(seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(["affine=abm"]), "Followed")
    with store.run_folder(f"followed-{seed}") as folder:
        runner.simulate(made, folder, BENCH, seed)
