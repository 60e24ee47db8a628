"""Caching of an evaluation's simulations, and their possible failures."""

import contextlib
import dataclasses
import inspect
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from lxml import html
from support.work import in_this_process

from warploom import points, store
from warploom.arch.chunks import most_warps
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.gpu import GpuConfig
from warploom.cli import main
from warploom.compiler.prepare import prepared
from warploom.evaluation import sampling, workload_mix
from warploom.evaluation.characterisation import executed
from warploom.evaluation.coalescing import experiment as coalescing
from warploom.evaluation.experiments import EXPERIMENTS
from warploom.evaluation.fg_simt import experiment as fg_simt
from warploom.evaluation.figures import Launched, Run
from warploom.evaluation.haws import code as hinted_code
from warploom.evaluation.placement.runs import COUNTS, INPUTS, PLACES, SPEEDS, setting
from warploom.evaluation.simulations import SIMULATION, cases, simulate_all
from warploom.evaluation.tfet import bounds as tfet_bounds
from warploom.evaluation.tfet import sms as tfet_sms
from warploom.evaluation.traces.reuse import reuse
from warploom.evaluation.traces.structure import structure
from warploom.evaluation.traces.toggling import toggling
from warploom.evaluation.workloads import SEVEN, traces, usual
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.simulate import simulate
from warploom.golden_model.values import values
from warploom.kernels.library import kernels
from warploom.origin import ROOT
from warploom.placement.policy import Policy
from warploom.programs import library
from warploom.verbs import evaluate
from warploom.verbs.evaluate import figures as evaluate_figures
from warploom.verbs.evaluate import hardware as evaluate_hardware

SMALL = SmConfig.preset("small")

PAIR = {name: config for name, config in coalescing.configurations(SMALL).items() if name in ("wid_off", "wid_reg")}


PLACED = json.dumps({
    "times": {setting(policy, count, mhz): 1000 for policy in Policy for count in COUNTS for mhz in SPEEDS},
    "loads": dict.fromkeys(INPUTS, 100.0), "most": {}})
"""A kernel as threads, as it is cached."""


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A separate cache folder."""
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    return tmp_path / "simulations"


def test_simulations_are_those_of_the_model_and_are_cached(folder, monkeypatch):
    wanted, heard = cases(["vector_add"], "tiny", PAIR), []
    first = simulate_all(wanted, heard.append)
    assert not first.failed
    (trace,) = traces("vector_add", "tiny")
    for name, config in PAIR.items():
        statistics = simulate(config, trace).statistics
        launched = Launched(trace.program.registers, most_warps(config, trace.program, trace.launch), statistics.cycles)
        assert first.runs["vector_add"][name] == Run(
            config, statistics, values(trace), reuse(trace), structure(trace), toggling(trace), launches=(launched,))
    assert sorted(heard, key=wanted.index) == wanted
    left = []
    monkeypatch.setattr(points, "compute", partial(in_this_process, made=left))
    assert simulate_all(wanted, heard.append) == first
    assert not left
    assert len(heard) == 2 * len(wanted)


def test_a_gpu_is_a_machine(folder, monkeypatch):
    """Its memory is cached, too; another field of it is another machine."""
    gpu = GpuConfig.preset("k20x").with_settings(["sms=2", "hints=on"])
    wanted = cases(["vector_add"], "tiny", {"gpu": gpu, "slow": gpu.with_settings(["l2_latency=300"])})
    runs = simulate_all(wanted, lambda case: None).runs["vector_add"]
    (trace,) = traces("vector_add", "tiny")
    known = simulate_gpu(gpu, dataclasses.replace(trace, program=prepared(trace.program, gpu.sm)))
    assert (runs["gpu"].statistics, runs["gpu"].memory) == (known.summed, known.statistics)
    assert (runs["gpu"].machine, runs["gpu"].config) == (gpu, gpu.sm)
    assert runs["slow"].statistics.cycles > runs["gpu"].statistics.cycles
    monkeypatch.setattr(points, "compute", partial(in_this_process, made=(left := [])))
    assert simulate_all(wanted, lambda case: None).runs["vector_add"] == runs and not left


@pytest.mark.parametrize("cached_as", ["null", "[1]", '{"statistics": {}, "values": {}}'])
def test_a_file_of_another_version_is_made_again(cached_as, folder, monkeypatch):
    monkeypatch.setattr(points, "compute", in_this_process)
    wanted = cases(["vector_add"], "tiny", {"wid_off": PAIR["wid_off"]})
    store.text(SIMULATION.key(wanted[0], store.sources(*SIMULATION.sources)), lambda _: cached_as)
    run = SIMULATION.read(wanted[0], SIMULATION.make(wanted[0]))
    assert simulate_all(wanted, lambda case: None).runs == {"vector_add": {"wid_off": run}}


def test_a_damaged_file_is_made_again(folder, monkeypatch, capfd):
    monkeypatch.setattr(points, "compute", in_this_process)
    wanted = cases(["vector_add"], "tiny", {"wid_off": PAIR["wid_off"]})
    first = simulate_all(wanted, lambda case: None)
    path, = folder.glob("*/text")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"1", b"2", 1))
    assert simulate_all(wanted, lambda case: None) == first
    assert path.read_bytes() == whole
    assert capfd.readouterr().err == f"warploom: warning: {path} is damaged: made again\n"


def test_another_configuration_or_source_has_another_file(folder):
    case, = cases(["vector_add"], "tiny", {"wid_off": PAIR["wid_off"]})
    others = [dataclasses.replace(case, size="default"), dataclasses.replace(case, workload="bfs"),
              dataclasses.replace(case, config=PAIR["wid_reg"])]
    paths = [SIMULATION.key(case, sources).path for sources in ("sources", "changed")]
    paths += [SIMULATION.key(other, "sources").path for other in others]
    assert len(set(paths)) == 5


@pytest.mark.parametrize("work", [
    SIMULATION, PLACES, executed.EXECUTED, workload_mix.COUNTS, hinted_code.CODE, sampling.BLOCKS, tfet_sms.WORK,
    tfet_bounds.WORK, fg_simt.WORK, fg_simt.COUNTING])
def test_a_result_depends_on_the_file_that_makes_it(work):
    made = work.make.args[0] if isinstance(work.make, partial) else work.make
    own = Path(inspect.getfile(made)).relative_to(ROOT)
    assert any(own.is_relative_to(source) for source in work.sources), own


def test_cases_of_a_kernel_come_together():
    order = [case.workload for case in cases([kernel.name for kernel in kernels()], "tiny", PAIR)]
    assert sum(a != b for a, b in pairwise(order)) == len(kernels()) - 1


def test_a_case_that_fails_is_reported_and_its_kernel_left_out(folder):
    """The vector addition fits into 16 rows, matmul does not."""
    config = SMALL.with_settings(["rows=16"])
    wanted = cases(["vector_add", "matmul"], "tiny", {"off": config, "on": config.with_settings(["coalescing=on"])})
    simulated = simulate_all(wanted, lambda case: None)
    assert list(simulated.runs) == ["vector_add"] and set(simulated.runs["vector_add"]) == {"off", "on"}
    assert [(case.workload, case.setting) for case in simulated.failed] == [("matmul", "off"), ("matmul", "on")]
    assert all("does not fit" in str(error) for error in simulated.failed.values())


def test_a_machine_with_two_names_is_simulated_once(folder, monkeypatch):
    """Also if it has the second name in another experiment."""
    made = []
    monkeypatch.setattr(points, "compute", partial(in_this_process, made=made))
    wanted = cases(["vector_add"], "tiny", {"off": PAIR["wid_off"], "baseline": PAIR["wid_off"]})
    runs = simulate_all(wanted, lambda case: None).runs["vector_add"]
    assert len(made) == 1 and runs["off"] == runs["baseline"]


def test_a_program_that_fails_is_left_out_of_the_averages(folder, monkeypatch, capsys):
    scan, program = library.program("scan"), library.program
    wrong = dataclasses.replace(scan, reference=lambda given: {
        name: array + 1 for name, array in scan.reference(given).items()})
    monkeypatch.setattr(library, "program", lambda name: wrong if name == "scan" else program(name))
    monkeypatch.setattr(points, "compute", in_this_process)
    monkeypatch.setattr(evaluate_figures.charts, "draw", lambda *_: [])
    path = folder.parent / "out.json"
    assert main(["evaluate", "coalescing", "--preset", "small", "--size", "tiny", "--workloads", "scan,vector_add",
                 "--out", str(folder.parent), "--json", str(path)]) == 1
    document = json.loads(path.read_text())
    assert document["groups"] == {"named workloads, without scan": ["vector_add"]}
    assert list(document["runs"]) == ["vector_add"]
    assert {entry["workload"] for entry in document["failed"]} == {"scan"} and len(document["failed"]) == 12
    assert "scan (tiny): not what its reference computes" in document["failure"]
    text = capsys.readouterr().out
    assert "without these workloads" in text and "named workloads, without scan" in " ".join(text.split())


# ------------------------------------------------------------------ the command


@pytest.mark.long
def test_several_experiments_have_a_document_each(folder, monkeypatch, capsys):
    """The second one fails, and is not in the way of the others."""
    def fails(*_):
        raise ToolError("no synthesis")

    monkeypatch.setattr(points, "compute", in_this_process)
    monkeypatch.setattr(evaluate_hardware, "show", fails)
    monkeypatch.setattr(evaluate_figures, "PLACES", dataclasses.replace(PLACES, make=lambda _: PLACED))
    out, path = folder.parent / "out", folder.parent / "all.json"
    names = ["calibration", "hardware", "placement"]
    assert main(["evaluate", *names, "--quick", "--workloads", "vector_add", "--out", str(out), "--json",
                 str(path)]) == 1
    document = json.loads(path.read_text())
    assert document["documents"] == {
        name: {"document": None, "failure": "no synthesis"} if name == "hardware" else
        {"document": str(out / f"{name}.json"), "failure": None} for name in names}
    assert document["failure"] == "hardware: no synthesis"
    assert json.loads((out / "calibration.json").read_text())["size"] == "tiny"
    assert json.loads((out / "placement.json").read_text())["groups"] == {"average": list(usual("BOW")[SEVEN])}
    assert len(list((out / "tiny").glob("*.svg"))) == 7
    assert document["page"] == str(out / "report.html") and "Fig. 5.8" in (out / "report.html").read_text()
    assert "no synthesis" in capsys.readouterr().out


@pytest.mark.long
def test_experiments_with_all_their_programs_are_a_page(tmp_path):
    """Those that need seconds to minutes, with programs on GPUs of several makes among them."""
    names = ["units", "characterisation", "haws", "locality", "tfet", "tfet_sms", "tfet_bounds", "fg_simt", "silicon",
             "calibration", "placement"]
    command = [sys.executable, "-m", "warploom.cli", "evaluate", *names, "--quick", "--out", str(tmp_path), "--json",
               str(path := tmp_path / "all.json")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    document = json.loads(path.read_text())
    assert document["failure"] is None and document["documents"].keys() == {*names}
    page = html.parse(str(tmp_path / "report.html"))
    for name in names:
        assert page.find(f".//section[@id='{name}']").find(".//section[@class='panel']") is not None, name


@pytest.mark.parametrize(("options", "left_out"), [
    ([], set()), (["--quick"], {"hardware", "hardware_network", "hardware_units", "hardware_areas", "fg_simt_cost",
                                "tfet_power"}),
    (["--blocks", "4"], {"sampling", "silicon"})])
def test_all_are_all_except_synthesis_in_a_hurry(options, left_out, folder, monkeypatch):
    """And samples of samples."""
    asked = []
    monkeypatch.setattr(evaluate, "_several", lambda names, *_: asked.extend(names) or {})
    assert main(["evaluate", "all", *options]) == 0
    assert asked == [name for name in EXPERIMENTS if name not in left_out]
    assert {"combination", "sampling", "workloads"} - left_out <= {*asked}


@pytest.mark.parametrize(("options", "sizes"), [
    ([], {"combination": "tiny", "coalescing": "default"}),
    (["--size", "default"], {"combination": "default", "coalescing": "default"}),
    (["--quick"], {"combination": "tiny", "coalescing": "tiny"}),
])
def test_sixteen_machines_have_tiny_inputs_unless_others_are_wanted(options, sizes, folder, monkeypatch):
    found = {}
    monkeypatch.setattr(evaluate.Simulations, "of", lambda *_: {})
    monkeypatch.setattr(evaluate, "_document", lambda name, wanted, path: (
        found.update({name: wanted.size}) or {"document": None, "failure": None}, {}))
    assert main(["evaluate", "coalescing", "combination", *options, "--out", str(folder.parent)]) == 0
    assert found == sizes


@pytest.mark.parametrize(("arguments", "line"), [
    (["all", "--preset", "small"], "experiments have machines of their own"),
    (["coalescing", "--workloads", "vector_ad"], "'vector_ad' is no workload"),
    (["calibration", "--workloads", "bfs"], "kernels of its own"),
    (["placement", "--workloads", "bfs"], "its threads are the kernels"),
    (["hardware", "--workloads", "bfs"], "it runs none"),
    (["gating", "--gpu", "k20x"], "the machine is one SM: name it with --preset"),
    (["placement", "--record", "a.json.xz"], "evaluate placement: --record must be left out: nothing is simulated"),
    (["hardware", "--from", "a.json.xz"], "--from must be left out"),
])
def test_what_cannot_be_asked_for(arguments, line, folder, capsys):
    assert main(["evaluate", *arguments]) == 1
    assert line in capsys.readouterr().err


def test_what_does_not_fit_is_one_line(folder, monkeypatch, capsys):
    monkeypatch.setattr(points, "compute", in_this_process)
    arguments = ["evaluate", "coalescing", "--size", "tiny", "--preset", "small", "--set", "rows=16"]
    assert main([*arguments, "--workloads", "matmul,hotspot"]) == 1
    line, = capsys.readouterr().err.splitlines()
    assert line.startswith("warploom: error: ")
    assert "does not fit" in line


INTERRUPTIBLE = """
import signal, sys
from warploom.cli import main
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(["evaluate", "coalescing", "--size", "tiny"]))
"""


def test_an_interrupt_is_one_line_and_leaves_no_process(tmp_path, folder):
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTIBLE)
    with subprocess.Popen([sys.executable, script], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True, start_new_session=True) as process:
        while not list(folder.glob("*/record")) and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "warploom: interrupted\n")
    deadline = time.monotonic() + 10
    with contextlib.suppress(ProcessLookupError):  # as expected: the group of processes has ended
        while time.monotonic() < deadline:
            os.killpg(process.pid, 0)
            time.sleep(0.1)
        pytest.fail("processes are left")
