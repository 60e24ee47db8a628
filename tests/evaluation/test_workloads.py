"""Workloads of the evaluation: kernels and programs, their traces, and what is counted over several launches."""

import dataclasses

import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.errors import ExecutionError, LaunchError
from warploom.arch.gpu import GpuConfig
from warploom.evaluation import simulations, workloads
from warploom.evaluation.simulations import Case
from warploom.evaluation.traces.reuse import COUNTS, reuse
from warploom.evaluation.traces.structure import Structure, structure
from warploom.evaluation.workloads import chosen, listed, names, remaining, sized, traces, usual
from warploom.golden_model.gpu.statistics import in_sequence
from warploom.golden_model.values import Values, values
from warploom.host.gpu import Gpu
from warploom.programs.library import program

HINTED = SmConfig.preset("small").with_settings(["bypass=bow_hints", "collectors=8"])


@pytest.fixture(autouse=True)
def _fresh() -> None:
    traces.cache_clear()


@pytest.mark.parametrize("config", [SmConfig.preset("small"), HINTED], ids=["plain", "hinted"])
def test_statistics_are_the_sum_over_all_launches(config: SmConfig) -> None:
    """As the library counts them, which times each launch when it is made."""
    gaussian, gpu = program("gaussian"), Gpu(config)
    gaussian.run(gpu, gaussian.inputs("tiny"))
    assert len(gpu.launches) > 10
    assert simulations.timed(Case("gaussian", "tiny", "off", config))[:2] == (gpu.statistics, None)


def test_statistics_of_a_gpu_are_the_sum_over_all_launches() -> None:
    config = GpuConfig.preset("k20x").with_settings(["sms=2", "hints=on"])
    gaussian, gpu = program("gaussian"), Gpu(gpu=config)
    gaussian.run(gpu, gaussian.inputs("tiny"))
    runs = [launched.gpu.statistics for launched in gpu.launches if launched.gpu is not None]
    statistics, memory, _ = simulations.timed(Case("gaussian", "tiny", "off", config))
    assert statistics == gpu.statistics and memory == in_sequence(runs)
    assert memory.run_cycles == statistics.cycles and len(runs) > 10


def test_counts_of_values_and_structure_add() -> None:
    launches = traces("gaussian", "tiny")
    for count, kind in ((values, Values), (structure, Structure)):
        each = [count(launch) for launch in launches]
        for field in dataclasses.fields(kind):
            summed = np.sum([getattr(one, field.name) for one in each], axis=0).tolist()
            assert getattr(count(*launches), field.name) == summed, field.name


def test_reuse_adds_and_names_the_registers_of_the_largest_kernel() -> None:
    """Gaussian elimination has two kernels in turns; the second does most of the work."""
    launches = traces("gaussian", "tiny")
    found, each = reuse(*launches), [reuse(launch) for launch in launches]
    assert found.reads == sum(one.reads for one in each) and found.classes.keys() == each[0].classes.keys()
    assert sum(found.classes.values()) == sum(sum(one.classes.values()) for one in each)
    assert found.bypassed == np.sum([one.bypassed for one in each], axis=0).tolist()
    of_second = {name: value for name, value in dataclasses.asdict(each[1]).items() if name not in COUNTS}
    assert of_second.items() <= dataclasses.asdict(found).items()
    assert launches[0].program.registers != launches[1].program.registers


def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    scan = program("scan")
    wrong = dataclasses.replace(
        scan, reference=lambda given: {name: array + 1 for name, array in scan.reference(given).items()})
    monkeypatch.setattr(workloads.library, "program", lambda name: wrong)
    with pytest.raises(ExecutionError, match=r"scan \(tiny\): not what its reference computes"):
        traces("scan", "tiny")


@pytest.mark.parametrize(("name", "size", "line"), [
    ("nothing", "tiny", "not a bundled kernel"), ("bfs", "large", "must be one of tiny, default")])
def test_what_is_no_workload(name: str, size: str, line: str) -> None:
    with pytest.raises(LaunchError, match=line):
        traces(name, size)


# ------------------------------------------------------------------ groups


@pytest.mark.parametrize("source", ["RADAIDEH", "BOW", "AFFINE", "HAWS", "TFET"])
def test_lists_of_sources(source: str) -> None:
    found = listed(source)
    assert len(found) > 9 and len(set(found)) == len(found)
    groups = usual(source)
    assert list(groups) == [f"{len(found)} of [{source}]", "seven kernels"]
    assert len(groups["seven kernels"]) == 7 and set(sum(groups.values(), ())) <= set(names())


@pytest.mark.parametrize(("source", "kernels"), [
    ("RADAIDEH", {"hotspot", "pathfinder"}), ("TFET", {"matmul"}), ("HAWS 4.2", {"histogram", "matmul", "vector_add"}),
    ("HAWS", {"histogram", "matmul", "vector_add", "reduction"}), ("BOW", set())])
def test_kernels_on_lists_of_sources(source: str, kernels: set[str]) -> None:
    assert {*listed(source)} & {*usual("BOW")["seven kernels"]} == kernels


def test_groups_are_chosen() -> None:
    assert chosen([], "BOW") == usual("BOW")
    assert list(chosen(["all"], "BOW")) == [f"{len(names()) - 7} programs", "seven kernels"]
    assert chosen(["lud", "kernels", "bfs", "lud"], "BOW") == {
        "seven kernels": usual("BOW")["seven kernels"], "named workloads": ("lud", "bfs")}
    with pytest.raises(LaunchError, match=r"'lut' is no workload.*nearest: lud"):
        chosen(["lut"], "BOW")


def test_what_failed_is_named() -> None:
    groups = {"2 programs": ("lud", "scan"), "kernels": ("bfs",)}
    assert remaining(groups, ["lud", "scan", "bfs"]) == groups
    assert remaining(groups, ["lud"]) == {"2 programs, without scan": ("lud",)}


def test_kernels_have_no_large_inputs() -> None:
    assert [sized(name, "large") for name in ("lud", "bfs")] == ["large", "default"]
    assert [sized(name, "tiny") for name in ("lud", "bfs")] == ["tiny", "tiny"]
