"""Samples of a launch's blocks: which, what is timed, and what is said of it."""

import json
from pathlib import Path

import numpy as np
import pytest

import warploom
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.cli import main
from warploom.compiler.compile import compile_file
from warploom.golden_model.functional import executor
from warploom.golden_model.functional.executor import Stream, execute
from warploom.golden_model.sample import Sampled, evenly
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics, scaled, total
from warploom.kernels.library import kernel

SMALL = SmConfig.preset("small")


@pytest.mark.parametrize(("blocks", "count", "numbers"), [
    (16, 4, (0, 5, 10, 15)), (10, 2, (0, 9)), (3, 3, (0, 1, 2)), (3, 8, (0, 1, 2)), (1, 2, (0,)), (5, 4, (0, 1, 2, 4)),
])
def test_blocks_are_evenly_spaced(blocks: int, count: int, numbers: tuple[int, ...]) -> None:
    assert evenly(blocks, count) == numbers


def test_a_sample_has_first_and_last_and_no_block_twice() -> None:
    for blocks in range(2, 40):
        for count in range(2, blocks + 1):
            numbers = evenly(blocks, count)
            steps = np.diff(numbers)
            assert len(numbers) == count
            assert (numbers[0], numbers[-1]) == (0, blocks - 1)
            assert steps.min() >= 1
            assert steps.max() - steps.min() <= 1


@pytest.mark.parametrize("settings", [[], ["affine=abm"], ["coalescing=on", "layout=wid"]])
def test_all_blocks_are_the_whole_launch(settings: list[str]) -> None:
    file, config = kernel("reduction").load("tiny"), SMALL.with_settings(settings)
    trace = execute(compile_file(file.ptx), file.launch).trace
    assert trace is not None
    whole = simulate(config, trace).statistics
    sampled = Sampled(trace, file.launch.blocks)
    assert simulate(config, sampled).statistics == whole
    sample = sampled.sample(trace.warp_instructions, whole.warp_instructions)
    assert (sample.factor, sample.of) == (1, len(sample.blocks))


def test_a_sample_is_its_blocks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks keep their numbers, which the affine unit and the checker use, in a stream as in a trace."""
    monkeypatch.setattr(executor, "RESIDENT_WARPS", 4)
    file, config = kernel("hotspot").load("tiny"), SMALL.with_settings(["affine=abm"])
    program = compile_file(file.ptx)
    trace = execute(program, file.launch).trace
    assert trace is not None
    sampled = Sampled(trace, 3)
    (part,) = sampled.parts()
    assert sorted({warp.block for warp in part.warps}) == list(sampled.numbers) == [0, 7, 15]
    run = simulate(config, sampled, check=True)
    assert run.statistics.warp_instructions == part.warp_instructions < trace.warp_instructions
    assert simulate(config, Sampled(Stream(program, file.launch), 3)).statistics == run.statistics


def test_a_run_of_a_kernel_says_what_was_timed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    assert main(["run", "hotspot", "--size", "tiny", "--preset", "small", "--blocks", "3", "--json", str(path)]) == 0
    document = json.loads(path.read_text())
    assert document["sample"]["blocks"] == [0, 7, 15]
    assert document["sample"]["of"] == 16
    whole, timed = document["execution"]["warp_instructions"], document["timing"]["warp_instructions"]
    assert document["sample"]["factor"] == whole / timed > 1
    assert "0, 7, 15" in capsys.readouterr().out


def test_a_run_of_a_program_is_an_estimate_of_the_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.json"
    assert main(["run", "gaussian", "--size", "tiny", "--preset", "small", "--blocks", "2", "--json", str(path)]) == 0
    document = json.loads(path.read_text())
    assert not document["mismatches"]
    launches = document["launches"]
    assert any(launch["sample"]["factor"] > 1 for launch in launches)
    for launch in launches:
        estimate = launch["timing"]["warp_instructions"] * launch["sample"]["factor"]
        assert round(estimate, 6) == launch["warp_instructions"]
    summed = total([scaled(Statistics.from_json(launch["timing"]), launch["sample"]["factor"]) for launch in launches])
    assert Statistics.from_json(document["timing"]) == summed
    assert summed.warp_instructions == document["execution"]["warp_instructions"]
    printed = capsys.readouterr().out
    assert "an estimate of the whole" in printed


def test_scaled_counts() -> None:
    run = simulate(SMALL, _trace("vector_add")).statistics
    twice = scaled(run, 2.0)
    assert (twice.cycles, twice.ipc, twice.occupancy) == (2 * run.cycles, run.ipc, run.occupancy)
    assert twice.stalls == {cause: 2 * count for cause, count in run.stalls.items()}
    assert twice.bank_reads == [2 * count for count in run.bank_reads]
    assert scaled(run, 1.0) == run


def _trace(name: str) -> Stream:
    file = kernel(name).load("tiny")
    return Stream(compile_file(file.ptx), file.launch)


def test_what_has_no_sample(capsys: pytest.CaptureFixture[str]) -> None:
    for options in (["--rtl"], ["--functional"]):
        assert main(["run", "bfs", "--blocks", "4", *options]) == 1
        assert "--blocks" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "bfs", "--blocks", "1"])
    assert "at least 2" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="sample = 1"):
        warploom.Gpu("small", sample=1)
    with pytest.raises(ConfigError, match="sample = 4"):
        warploom.Gpu("small", sample=4, timing=False)


def test_rows_of_a_table_are_of_whole_launches() -> None:
    """Blocks beyond the vector execute fewer instructions, so samples of two launches have different factors."""
    gpu = warploom.Gpu(SMALL, sample=4)
    x = gpu.array(np.ones(1024, np.float32))
    add = gpu.module(kernel("vector_add").ptx)["vector_add"]
    launches = [add[32, 32](x, x, x, length) for length in (1024, 400)]
    rows = gpu.table()
    assert [row["warp_instructions"] for row in rows] == [launched.warp_instructions for launched in launches]
    assert [row["thread_instructions"] for row in rows] == [launched.thread_instructions for launched in launches]
    assert sum(row["cycles"] for row in rows) == gpu.statistics.cycles > sum(
        launched.statistics.cycles for launched in launches)
