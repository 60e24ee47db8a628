"""Bench of the SIMT register file: every reader gets the newest words."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import REGISTERS
from warploom.rtl.fg_simt.register_ports import READERS, WRITERS
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise, source
from warploom.tb.fg_simt.eight_lanes import GROUPS
from warploom.tb.fg_simt.results import POINTS, Storage, fields, read_numbers, stages

BENCH = "warploom.tb.fg_simt.test_srf"
CYCLES = 2500


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """All readers in every cycle."""
    ports, checker, coverage, rng = Ports(dut), Checker(minimum=READERS * CYCLES // 2), Coverage(*POINTS), source()
    storage, given = Storage(coverage), stages(rng, WRITERS, REGISTERS, 32)
    read: dict[int, tuple[int, list[int]]] = {}

    def stimulus() -> dict[str, object]:
        """No two readers read a group; one that does not read names any group."""
        writes = next(given)
        storage.begin(writes)
        groups = rng.sample(range(GROUPS), READERS)
        asked = {reader: (groups[reader], read_numbers(rng, REGISTERS, writes)) for reader in range(READERS)}
        read.clear()
        read.update({reader: asked[reader] for reader in asked if rng.random() < 0.8})
        return {"reads": {str(reader): {
                    "valid": int(reader in read), "group": group if reader in read else rng.randrange(GROUPS),
                    "numbers": {str(port): number for port, number in enumerate(numbers)}}
                          for reader, (group, numbers) in asked.items()},
                "writes": fields(writes, "destination", "words", joined=False)}

    def check(seen: Observation) -> None:
        words = ports.codecs["words"].unpack(seen["words"])
        for reader, (group, numbers) in read.items():
            for port, number in enumerate(numbers):
                if (expected := storage.read((number, group))) is not None:
                    checker.equal(f"R{number} of group {group}", [*words[str(reader)][str(port)].values()], expected)
        storage.end()

    await exercise(ports, (stimulus() for _ in range(CYCLES)), check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_register_file(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "SimtRegisterFile"), BENCH, seed)
