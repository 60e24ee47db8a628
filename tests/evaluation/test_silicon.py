"""Real GPUs as witnesses: what an H200 answered, and the recorder of it, with a fake CuPy in the place of a GPU."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import silicon
from fuzz.__main__ import STORED
from fuzz.case import Case
from support import fake_cupy
from support.ptx_rows import FOLDER

from warploom.kernels.expectation import Expectation
from warploom.programs.library import names, program
from warploom.silicon import latency, record
from warploom.silicon.device import Silicon

RECORDED_OPERANDS = silicon.recorded_operands()
RECORDED = json.loads((Path(record.__file__).parent / "h200.json").read_text())
LATENCIES = json.loads((Path(record.__file__).parent / "h200_latency.json").read_text())


def test_the_gpu_is_named():
    assert (RECORDED["gpu"], RECORDED["driver"], RECORDED["cuda"]) == ("NVIDIA H200", "580.159.04", "13.0")
    assert list(RECORDED["programs"]) == names()


def test_latencies_of_the_gpu():
    """Each level of the memory is further away than the one before."""
    assert [LATENCIES[key] for key in ("gpu", "driver", "cuda")] == ["NVIDIA H200", "580.159.04", "13.0"]
    found = [(each["what"], each["cycles"]) for each in LATENCIES["latencies"]]
    assert [what for what, _ in found] == (
        [name for name, *_ in latency.ARITHMETIC] + ["shared"] + [what for what, *_ in latency.FOOTPRINTS])
    loads = dict(found[len(latency.ARITHMETIC) :])
    assert list(loads) == sorted(loads, key=loads.__getitem__) == ["shared", "l1", "l2", "dram"]


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("size", ["tiny", "default"])
def test_the_gpu_answers_what_the_reference_says(name, size):
    """What this project's model answers is compared with the same references in test_programs.py."""
    this, found = program(name), RECORDED["programs"][name][size]
    assert not found["mismatches"]
    expected = this.reference(this.inputs(size))
    assert {output: record.digest(array) for output, array in expected.items() if output not in this.tolerances} == (
        found["outputs"])
    for output, answered in found["approximate"].items():
        wanted = expected[output]
        chip = np.array(answered, wanted.dtype).reshape(wanted.shape)
        assert not Expectation(output, wanted, *this.tolerances[output]).mismatch(chip)
    assert found["counts"]["thread_instructions"] <= 32 * found["counts"]["warp_instructions"]


# ------------------------------------------------------------ the recorder


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy, whose GPU is the golden model."""
    fake_cupy.memories.clear()
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy)
    monkeypatch.setattr(Silicon, "about", lambda self: {"gpu": "a model", "driver": "none", "cuda": "13.0"})


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("name", ["cutcp", "nearest_neighbour", "mummer", "bfs_levels"])
def test_programs_run_on_a_gpu_as_on_a_model(name):
    """Variables of the module, approximate outputs, structs by value, and a host that waits for a flag."""
    fake_cupy.memories.clear()
    found = record.recorded(program(name), "tiny")
    assert not found["mismatches"]
    assert found["outputs"] == RECORDED["programs"][name]["tiny"]["outputs"]
    assert len(found["kernels"]) == RECORDED["programs"][name]["tiny"]["launches"]


def counters(path: Path, kernels: list[str]) -> Path:
    """A table as Nsight Compute writes it."""
    metrics = list(record.METRICS.values())
    lines = ["==PROF== Connected", ",".join(f'"{name}"' for name in ["ID", "Kernel Name", *metrics]),
             ",".join('""' for _ in range(2 + len(metrics)))]
    lines += [",".join(f'"{value}"' for value in [number, f"{kernel}(int *)", *["1,000"] * len(metrics)])
              for number, kernel in enumerate(kernels)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.usefixtures("fake")
def test_counts_are_added_to_a_record(tmp_path, monkeypatch):
    file = tmp_path / "record.json"
    command = ["record", "run", str(file), "--sizes", "tiny", "--programs", "two_mm", "srad"]
    monkeypatch.setattr(sys, "argv", command)
    assert record.main() == 0
    kernels = [kernel for sizes in json.loads(file.read_text())["programs"].values()
               for kernel in sizes["tiny"]["kernels"]]
    with pytest.raises(SystemExit, match="is not of the run"):
        record.count(file, counters(tmp_path / "other.csv", kernels[::-1]))
    for name, others in (("fewer", kernels[:-1]), ("more", [*kernels, kernels[0]])):
        with pytest.raises(SystemExit, match="is not of the run"):
            record.count(file, counters(tmp_path / f"{name}.csv", others))
    record.count(file, counters(tmp_path / "counters.csv", kernels))
    counted = json.loads(file.read_text())["programs"]["two_mm"]["tiny"]
    assert counted["launches"] == 2
    assert counted["counts"] == dict.fromkeys(record.METRICS, 2000)


@pytest.mark.usefixtures("fake")
def test_random_programs_on_a_gpu():
    case = Case.read(STORED / "39.ptx")
    assert silicon.checked(case) is None
    fake_cupy.memories.clear()
    wrong = silicon.checked(replace(case, rows=(case.rows[0] ^ 1, *case.rows[1:])))
    assert wrong and wrong.endswith(f"1 of {len(case.rows)} threads differ from the host's, the first is 0")


@pytest.mark.usefixtures("fake")
def test_instructions_on_a_gpu(monkeypatch):
    """The model answers the first rows, integer additions, as the chip did."""
    monkeypatch.setattr(silicon, "ROWS", silicon.ROWS[:8])
    monkeypatch.setattr(silicon, "recorded_operands", lambda: RECORDED_OPERANDS[:8])
    answers = silicon.rows()
    with np.load(FOLDER / "h200.npz") as archive:
        assert np.array_equal(answers, archive["results"][: len(answers)])


def test_no_gpu(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(sys, "argv", ["record", "run", str(tmp_path / "record.json")])
    assert record.main() == 1
    assert "error: no GPU to record: " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
