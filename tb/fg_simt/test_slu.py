"""Bench of the SLU: hardware against `warploom.golden_model.fg_simt.lanes`."""

import random
from collections.abc import Iterator
from typing import Any

import cocotb
import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import REGISTERS, SLWQ_ENTRIES
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access
from warploom.golden_model.fg_simt.lanes import extended
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES
from warploom.tb.fg_simt.sau_check import NOTHING, Fields, shown

BENCH = "warploom.tb.fg_simt.test_slu"
CYCLES = 3000

EXTENSION = {(access.size.bit_length() - 1, int(access in (Access.S8, Access.S16))): access for access in Access}
POINTS = (*(access.name for access in Access), "negative byte", "vector load", "no lane executes", "row of a store",
          "loads nothing", "entry is taken again before the last group")


def row(rng: random.Random, entry: int) -> dict[str, Any]:
    """A row for the memory unit, of a load or not, often for some entry; of a vector load lane 0 executes, and has the
    mask of threads."""
    vector, entry = rng.random() < 0.3, rng.choice((entry, rng.randrange(SLWQ_ENTRIES)))
    return {"row": {
        "instruction": {"loads": int(vector or rng.random() < 0.7), "vector": int(vector),
                        "place": GROUPS * entry + rng.randrange(GROUPS)},
        "execute": 1 if vector else rng.choice((0, 0xFF, rng.getrandbits(LANES))),
        "data": rng.getrandbits(32 * LANES)}}


def stimuli() -> Iterator[Stimulus]:
    """Rows at any time, and loads, one group in each cycle."""
    rng = source()
    fill = [{"arrive": 1, "arriving": {"row": {"instruction": {"loads": 1, "place": place}, "execute": place}}}
            for place in range(SLWQ_ENTRIES * GROUPS)]
    yield from fill
    while True:
        size, signed = rng.choice(list(EXTENSION))
        entry = rng.randrange(SLWQ_ENTRIES)
        operation = {"extension": {"size": size, "signed": signed}, "place": entry,
                     "destination": {"number": rng.randrange(REGISTERS), "valid": int(rng.random() < 0.9)}}
        for group in range(GROUPS):
            yield {"arrive": int(rng.random() < 0.6), "arriving": row(rng, entry), "words": rng.getrandbits(32 * LANES),
                   "read__valid": 1, "read__group": group, "read__operation": operation}
        for _ in range(rng.choice((0, 0, 1, 6))):
            yield {"arrive": int(rng.random() < 0.6), "arriving": row(rng, entry), "read__operation": operation}


class LoadCheck:
    """The place of the same cycle, and results one cycle later, equal the model's."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._masks = [0] * (SLWQ_ENTRIES * GROUPS)
        self._taken = [0] * GROUPS  # of the load that is read
        self._expected = NOTHING

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        fields = self._codecs["write"].unpack(seen["write"])
        actual = shown(fields["destination"], fields["predicate"], fields, [*fields["words"].values()],
                       fields["verdicts"])
        self._checker.equal("write", actual, self._expected)
        read = self._codecs["read__operation"].unpack(seen["read__operation"])
        first, group = GROUPS * read["place"], seen["read__group"]
        self._checker.equal("place", seen["place"], first + group)
        if group == 0:
            self._taken = self._masks[first : first + GROUPS]
        self._expected = self._read(seen, read, self._taken[group]) if seen["read__valid"] else NOTHING
        if seen["arrive"]:
            self._keep(self._codecs["arriving"].unpack(seen["arriving"])["row"], first if seen["read__valid"] else None)

    def _read(self, seen: Observation, read: Fields, execute: int) -> Fields:
        access = EXTENSION[read["extension"]["size"], read["extension"]["signed"]]
        words = np.array(self._codecs["words"].array(seen["words"]), np.uint32)
        given = extended(words, Instruction(op=Op.LD, access=access)).tolist()
        hit = self._coverage.hit
        hit(access.name)
        hit("negative byte", access is Access.S8 and any(word >> 31 for word in given))
        hit("no lane executes", not execute)
        hit("loads nothing", not read["destination"]["valid"])
        return shown(read["destination"], {"valid": 0}, {"group": seen["read__group"], "execute": execute}, given, 0)

    def _keep(self, arriving: Fields, reading: int | None) -> None:
        """The executing lanes of a load."""
        instruction, hit = arriving["instruction"], self._coverage.hit
        entry = instruction["place"] // GROUPS * GROUPS
        hit("row of a store", not instruction["loads"])
        if not instruction["loads"]:
            return
        if instruction["vector"]:
            hit("vector load")
            hit("entry is taken again before the last group", entry == reading)
            self._masks[entry : entry + GROUPS] = arriving["data"]["0"].to_bytes(GROUPS, "little")
        else:
            self._masks[instruction["place"]] = arriving["execute"]


@cocotb.test()
async def random_loads(dut: cocotb.handle.SimHandleBase) -> None:
    """Loads of all kinds, and rows of loads and stores."""
    ports, checker, coverage = Ports(dut), Checker(minimum=2 * CYCLES), Coverage(*POINTS)
    given = stimuli()
    await exercise(ports, (next(given) for _ in range(CYCLES)), LoadCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_load_unit(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "LoadUnit"), BENCH, seed)
