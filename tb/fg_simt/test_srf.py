"""Bench of the SIMT register file: every reader gets the newest words."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import REGISTERS
from warploom.rtl.fg_simt.register_bank import READERS, WRITERS
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise, source
from warploom.tb.fg_simt.results import POINTS, Row, Storage, fields, read_rows, stages

BENCH = "warploom.tb.fg_simt.test_srf"
CYCLES = 2500


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """All readers in every cycle."""
    ports, checker, coverage, rng = Ports(dut), Checker(minimum=READERS * CYCLES // 2), Coverage(*POINTS), source()
    storage, given = Storage(coverage), stages(rng, WRITERS, REGISTERS, 32)
    rows: list[Row] = []

    def stimulus() -> dict[str, object]:
        results, writes = next(given)
        storage.begin(results, writes)
        rows[:] = read_rows(rng, READERS, REGISTERS, [*results, *writes])
        named = {str(reader): {"number": row[0], "group": row[1]} for reader, row in enumerate(rows)}
        return {"rows": named,
                **{name: fields(stage, "destination", "words", joined=False)
                   for name, stage in (("results", results), ("writes", writes))}}

    def check(seen: Observation) -> None:
        words = ports.codecs["words"].unpack(seen["words"])
        for reader, row in enumerate(rows):
            if (expected := storage.read(row)) is not None:
                checker.equal(f"{row} of reader {reader}", [*words[str(reader)].values()], expected)
        storage.end()

    await exercise(ports, (stimulus() for _ in range(CYCLES)), check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_register_file(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "SimtRegisterFile"), BENCH, seed)
