"""What samples of blocks lose: the command's errors beside those of runs through the API."""

import json
from pathlib import Path

import pytest
from support.golden_traces import trace_of
from support.runs import statistics
from support.work import in_this_process

import warploom
from warploom import points
from warploom.arch.config import SmConfig
from warploom.cli import main
from warploom.evaluation import sampling, simulations
from warploom.evaluation.figures import Run
from warploom.evaluation.sampling import Error, summaries
from warploom.evaluation.simulations import Case
from warploom.golden_model.statistics import total
from warploom.golden_model.values import Values
from warploom.programs.library import program
from warploom.verbs import evaluate

SMALL = SmConfig.preset("small")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "compute", in_this_process)


@pytest.mark.parametrize("name", ["gaussian", "walsh"])
def test_a_program_is_estimated_as_by_the_api(name: str) -> None:
    """Each launch with a factor of its own."""
    gpu, bundled = warploom.Gpu(SMALL, sample=2), program(name)
    bundled.run(gpu, bundled.inputs("tiny"))
    assert any(launched.sample and launched.sample.factor > 1 for launched in gpu.launches)
    estimated = total([launched.estimated for launched in gpu.launches])
    assert simulations.timed(Case(name, "tiny", "off", SMALL, 2))[:2] == (estimated, None)
    assert simulations.timed(Case(name, "tiny", "off", SMALL))[0].cycles != estimated.cycles


def test_the_errors(tmp_path: Path) -> None:
    found = _evaluated(tmp_path, "sampling", "--workloads", "vector_add,matmul,bfs")
    assert [(one["workload"], one["blocks"], one["sample"]) for one in found["samples"]] == [
        ("vector_add", 40, 4), ("vector_add", 40, 8), ("vector_add", 40, 16), ("vector_add", 40, 32),
        ("matmul", 9, 4), ("matmul", 9, 8)]  # bfs has three blocks: samples are the whole
    whole, sample = (simulations.timed(Case("matmul", "tiny", "", SMALL, blocks))[0] for blocks in (None, 4))
    error = next(one for one in found["samples"] if (one["workload"], one["sample"]) == ("matmul", 4))
    assert error["ipc"] == pytest.approx(100 * (sample.ipc - whole.ipc) / whole.ipc)
    assert error["cycles"] == pytest.approx(100 * (sample.cycles - whole.cycles) / whole.cycles)
    assert error["accesses"] == pytest.approx(100 * (sample.bank_accesses - whole.bank_accesses) / whole.bank_accesses)
    assert error["share"] == pytest.approx(100 * 4 / 9)  # all of its blocks do the same
    assert [(one["sample"], one["workloads"]) for one in found["summaries"]] == [(4, 2), (8, 2), (16, 1), (32, 1)]


def test_a_sample_is_less_than_the_whole() -> None:
    """Of eight blocks, which are those of the largest launch: whole, and by four of them."""
    blocks = sampling._counted([trace_of([], warps=warps, per_block=1) for warps in (8, 2)])
    assert (blocks.most, blocks.shares) == (8, {4: 60, 8: 100, 16: 100, 32: 100})
    timed = sampling.cases({"bfs": blocks}, "tiny", SMALL)
    assert [case.blocks for case in timed] == [None, 4]
    run = Run(SMALL, statistics(ipc=1.0, cycles=10, bank_accesses=4), Values())
    runs = {"bfs": {sampling.setting(count): run for count in (None, 4, 8)}}
    assert [error.sample for error in sampling.errors(runs, {"bfs": blocks})] == [4]


def test_the_summary() -> None:
    first, second = summaries([
        Error("a", 9, 4, 40.0, -3.0, 1.0, 0.0), Error("a", 9, 8, 90.0, 1.0, 0.5, 0.0),
        Error("b", 8, 4, 50.0, 1.0, -2.0, 0.0)])
    assert (first.sample, first.workloads, first.share, first.ipc_mean, first.ipc_most) == (4, 2, 45, 2, 3)
    assert (first.accesses_mean, first.accesses_most) == (1.5, 2)
    assert (second.sample, second.workloads, second.ipc_most) == (8, 1, 1)


def test_an_experiment_on_samples(tmp_path: Path) -> None:
    """A sample is cached apart from the whole."""
    of_all, of_some = (_evaluated(tmp_path, "combination", "--workloads", "vector_add", *blocks)
                       for blocks in ([], ["--blocks", "2"]))
    assert (of_all["blocks"], of_some["blocks"]) == (None, 2)
    assert of_all["ratios"] != of_some["ratios"]


@pytest.mark.parametrize(("options", "blocks"), [
    ([], 32), (["--blocks", "7"], 7), (["--blocks", "all"], None), (["--size", "tiny"], None),
    (["--size", "tiny", "--blocks", "7"], 7)])
def test_an_experiment_of_samples(options: list[str], blocks: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a user says how many blocks are timed, or inputs are tiny."""
    timed: list[int | None] = []
    monkeypatch.setattr(evaluate, "_body", lambda study: timed.extend(case.blocks for case in study.cases()) or {})
    assert main(["evaluate", "units", "--workloads", "bfs", *options]) == 0
    assert {*timed} == {blocks}


@pytest.mark.parametrize(("options", "line"), [
    (["workloads", "--blocks", "4"], "evaluate workloads: --blocks must be left out: it times no blocks"),
    (["hardware", "--blocks", "4"], "evaluate hardware: --blocks must be left out: it times no blocks"),
    (["sampling", "--blocks", "4"], "evaluate sampling: --blocks must be left out: it takes samples of several sizes"),
])
def test_where_blocks_make_no_sense(options: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", *options]) != 0
    assert line in capsys.readouterr().err


def _evaluated(folder: Path, experiment: str, *options: str) -> dict:
    """The document of an experiment on the small preset with tiny inputs."""
    path = folder / "document.json"
    assert main(["evaluate", experiment, "--preset", "small", "--size", "tiny", *options, "--json", str(path)]) == 0
    return json.loads(path.read_text())
