"""``warploom bench``: the speed of the compiler, of functional execution, of the cycle model, and of the lockstep with
the hardware."""

import argparse
import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warploom import compiled, report
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.mechanisms import MECHANISMS, OFF
from warploom.compiler.compile import compile_file, compile_ptx
from warploom.compiler.prepare import prepared
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.simulate import simulate
from warploom.kernels.large import SHAPES
from warploom.kernels.launchfile import LaunchFile
from warploom.kernels.library import Kernel, kernels
from warploom.running import find
from warploom.speed import KERNELS, speed
from warploom.tb import runner
from warploom.tb.lockstep import lockstep
from warploom.tb.player import play
from warploom.tb.tape import record, tape
from warploom.verbs import Body, configuration, need_simulator

LOCKSTEP = "pathfinder"
"""The kernel whose lockstep is measured."""

ON = ("coalescing=on", "alignment=write", "gating=cross_lane", "affine=abm")
"""Settings of all mechanisms that go together."""

PAIRS = 3
"""Times that two models are measured in turn. The highest speed counts, as other work on the machine only slows down.
"""

LARGE = 10_000
"""Instructions of the kernels with which the compiler is measured."""


def main(options: argparse.Namespace) -> Body:
    """Measure the models with each kernel at its default size, the lockstep with one at its tiny size."""
    config = configuration(options)
    config.check_hardware()
    if options.beside is not None and not (options.beside / "warploom" / "speed.py").is_file():
        raise ToolError(f"--beside {options.beside}: has no warploom/speed.py: name the folder of a checkout")
    need_simulator()
    models = _models(config, options.beside)  # first, as another checkout may fail
    rows = []
    for kernel in kernels():
        with report.working(f"measuring {kernel.name}"):
            rows.append(_measure(kernel, config))
    words = [mechanism.describe(config) for mechanism in MECHANISMS if mechanism.words]
    machine = ", ".join(filter(None, [config.name, *words]))
    report.table(f"Speed at default size, cycle model of {machine}",
                 ("kernel", "compile, s", "thread instructions", "M per s", "warp instructions", "k per s", "cycles"),
                 [(r["kernel"], r["compile_seconds"], r["thread_instructions"],
                   r["thread_instructions"] / r["functional_seconds"] / 1e6, r["warp_instructions"],
                   r["warp_instructions"] / r["cycle_model_seconds"] / 1e3, r["cycles"]) for r in rows])
    shapes = [_compile(shape) for shape in SHAPES]
    report.table(f"Compiling {LARGE} PTX instructions of one shape", ("shape", "machine instructions", "CPU s"),
                 [tuple(shape.values()) for shape in shapes])
    totals = {
        "thread_instructions_per_second": _rate(rows, "thread_instructions", "functional_seconds"),
        "warp_instructions_per_second": _rate(rows, "warp_instructions", "cycle_model_seconds"),
    }
    with report.working(f"measuring the lockstep with {LOCKSTEP}"):
        totals |= _lockstep(config, find(LOCKSTEP, "tiny"))
    report.fields("In all", {
        "functional execution, million thread instructions/s": totals["thread_instructions_per_second"] / 1e6,
        "cycle model, thousand warp instructions/s": totals["warp_instructions_per_second"] / 1e3,
    })
    report.table(f"Cycle model of {config.name}, {' and '.join(KERNELS)}: thousand issued instructions per CPU second",
                 models[0], [row.values() for row in models])
    report.fields(f"Lockstep of {machine}, with {LOCKSTEP}: thousand cycles/s", {
        "bench": totals["lockstep_cycles_per_second"] / 1e3,
        "recording, then replay": totals["recorded_cycles_per_second"] / 1e3,
        "replay of a cached tape": totals["replayed_cycles_per_second"] / 1e3,
        "the same without comparing": totals["bare_cycles_per_second"] / 1e3,
    })
    return {"configuration": dataclasses.asdict(config), "kernels": rows, "models": models, "shapes": shapes, **totals}


def _models(config: SmConfig, other: Path | None) -> list[dict[str, Any]]:
    """Speeds of the cycle model without and with all mechanisms: plain, beside another checkout's if there is one, and,
    if it has been compiled, compiled."""
    rows = []
    for name, settings in (("all off", OFF), ("all on", (*OFF, *ON))):
        machine = config.with_settings(list(settings))
        with report.working(f"measuring the cycle model, {name}"):
            plain = {"plain": speed(machine) / 1e3} if other is None else _beside(machine, other)
            rows.append({"mechanisms": name, **plain,
                         "compiled": speed(machine, as_compiled=True) / 1e3 if compiled.exists() else None})
    return rows


def _beside(machine: SmConfig, other: Path) -> dict[str, float]:
    """Speeds of the cycle model and of that of another checkout, measured in turn."""
    measured = [(speed(machine), speed(machine, checkout=other)) for _ in range(PAIRS)]
    ours, theirs = map(max, zip(*measured, strict=True))
    return {"plain": ours / 1e3, "other": theirs / 1e3, "ratio": ours / theirs}


def _lockstep(config: SmConfig, file: LaunchFile) -> dict[str, float]:
    """Speeds of the lockstep, without build and start-up."""
    build, bench = runner.build(config, "Datapath"), lockstep(config, file)
    with tempfile.TemporaryDirectory() as temporary:
        _, recording_seconds = _timed(lambda: record(config, build.ports, file, Path(temporary)))
    items, _ = tape(config, build.ports, file)
    replay, bare = play(build, items, bench.seed), play(build, items, bench.seed, compare=False)
    return {
        "lockstep_cycles_per_second": bench.cycles_per_second,
        "recorded_cycles_per_second": replay.cycles / (recording_seconds + replay.seconds),
        "replayed_cycles_per_second": replay.cycles / replay.seconds,
        "bare_cycles_per_second": bare.cycles / bare.seconds,
    }


def _compile(shape: str) -> dict[str, Any]:
    text = SHAPES[shape](LARGE)
    with report.working(f"compiling {shape}"):
        start = time.process_time()
        program = compile_ptx(text, f"{shape}.ptx", "large")
        taken = time.process_time() - start
    return {"shape": shape, "instructions": len(program.instructions), "compile_cpu_seconds": taken}


def _measure(kernel: Kernel, config: SmConfig) -> dict[str, Any]:
    program, compile_seconds = _timed(lambda: prepared(compile_file(kernel.ptx), config))
    launch = kernel.load().launch
    execution, functional_seconds = _timed(lambda: execute(program, launch, record=False))
    trace = execute(program, launch).trace
    assert trace is not None
    run, cycle_model_seconds = _timed(lambda: simulate(config, trace))
    return {
        "kernel": kernel.name, "compile_seconds": compile_seconds,
        "thread_instructions": execution.thread_instructions, "functional_seconds": functional_seconds,
        "warp_instructions": execution.warp_instructions, "cycle_model_seconds": cycle_model_seconds,
        "cycles": run.statistics.cycles,
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def _rate(rows: list[dict[str, Any]], amount: str, seconds: str) -> float:
    return sum(row[amount] for row in rows) / sum(row[seconds] for row in rows)
