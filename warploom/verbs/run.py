"""``warploom run``: a kernel on the golden SM, and optionally on the hardware in lockstep with it."""

import argparse
import dataclasses
import time
from pathlib import Path

from rich.filesize import decimal

from warploom import report, targets
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, ExecutionError, ToolError
from warploom.arch.gpu import GpuConfig, sms_of
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.sample import Sample, Sampled
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics
from warploom.kernels.launchfile import LaunchFile, Options
from warploom.running import Executed, find, is_program, run, save
from warploom.tb import seeds
from warploom.verbs import Body, machine, need_simulator, run_program
from warploom.verbs.gpu import gpu_body, show_gpu
from warploom.verbs.launches import check_ways
from warploom.verbs.show_run import describe, show, show_printed, show_timing


def main(options: argparse.Namespace) -> Body:
    """Run a program, a bundled kernel, or a launch file."""
    if options.replay and options.waves:
        raise ConfigError("--replay: it replays on hardware, without waves: leave out --waves")
    check_ways(options)
    if options.seed is not None and not options.rtl:
        raise ConfigError("--seed: only hardware has power-up contents: add --rtl")
    if is_program(options.kernel):
        return run_program.main(options)
    if options.launches:
        raise ConfigError(f"--launches: it writes the launches of a program; {options.kernel} is a single one")
    return run_launch(options)


def run_launch(options: argparse.Namespace) -> Body:
    """Execute, compare, time, and write the outputs."""
    config, gpu = machine(options)
    if options.rtl:
        config.check_hardware()
        need_simulator()
    if options.waves:
        check_waves(options.waves, rtl=options.rtl)
    file = find(options.kernel, options.size).changed(
        Options(options.optimise, options.virtual_registers, options.max_registers, options.heap_base,
                options.stack))
    targets.check_launch(options, file.files, file.outputs if options.out else ())
    try:
        with report.working("executing"):
            executed = run(file, config, sms=sms_of(gpu or config), record=False)
    except ExecutionError as error:
        show_printed(error.printed)
        raise
    body = {"configuration": dataclasses.asdict(gpu or config), **describe(executed)}
    if options.out:  # before anything is printed: the reader may close the output
        paths = save({name: executed.execution.buffers[name] for name in file.outputs}, options.out)
        body["outputs"] = [str(path) for path in paths]
    show(executed)
    if gpu is not None and not options.functional:
        _time_gpu(gpu, executed, body)
    elif not options.functional:
        statistics = _time(options, config, executed, body)
    if options.rtl:
        body |= run_rtl(config, file, seed_of_hardware(options), statistics.cycles, record=options.waves,
                        replay=options.replay)
    if options.out:
        print(f"Buffers: {', '.join(body['outputs']) or 'none has out = true'}")
    return body


def _time(options: argparse.Namespace, config: SmConfig, executed: Executed, body: Body) -> Statistics:
    """Time all blocks or a sample of them, add the result to `body`, and print it."""
    stream = Stream(executed.program, executed.file.launch)
    sampled = None if options.blocks is None else Sampled(stream, options.blocks)
    with report.working("timing"):
        statistics = simulate(config, sampled or stream).statistics
    body["timing"] = statistics.to_json()
    show_timing(statistics)
    if sampled is not None:
        sample = sampled.sample(executed.execution.warp_instructions, statistics.warp_instructions)
        body["sample"] = dataclasses.asdict(sample)
        _show_sample(sample)
    return statistics


def _time_gpu(gpu: GpuConfig, executed: Executed, body: Body) -> None:
    """Time all SMs, add the result to `body`, and print it."""
    start = time.process_time()
    with report.working("timing"):
        run = simulate_gpu(gpu, Stream(executed.program, executed.file.launch))
    seconds = time.process_time() - start
    body["timing"], body["gpu"] = run.summed.to_json(), gpu_body([run])
    show_timing(run.summed)
    show_gpu([run.statistics])
    print(f"Timed in {seconds:.1f} processor seconds: "
          f"{run.summed.warp_instructions / seconds:,.0f} warp instructions a second")


def _show_sample(sample: Sample) -> None:
    """Print which blocks the timing is of."""
    report.fields("Timed, a sample of the blocks: all counts of the timing are of it", {
        "blocks": f"{len(sample.blocks)} of {sample.of:,}, evenly spaced", "which": ", ".join(map(str, sample.blocks)),
        "factor from its counts to those of all blocks, estimated": sample.factor,
    })


def seed_of_hardware(options: argparse.Namespace) -> int:
    """The seed of the hardware's power-up contents."""
    return seeds.FIXED if options.seed is None else int(options.seed)


def check_waves(path: Path, *, rtl: bool) -> None:
    """Raise `ConfigError` or `ToolError` if no waveform can be recorded in a file of this name."""
    from warploom.tb.toolchain import need_waves  # noqa: PLC0415  (running the model needs no simulator)

    if not rtl:
        raise ConfigError(f"--waves {path}: only hardware has waves: add --rtl")
    need_waves(path)


def run_rtl(
    config: SmConfig, file: LaunchFile, seed: int, cycles: int, *, waves: int = 0, record: Path | None = None,
    replay: bool = False,
) -> Body:
    """Run the same launch on the hardware, and compare every cycle that the model took; a difference is a `failure`.
    `waves` requests a waveform of this number of cycles, `record` one of all cycles in that file, `replay` a replay."""
    from warploom.tb.lockstep import LockstepError, lockstep  # noqa: PLC0415  (the model needs no simulator)
    from warploom.tb.runner import BenchError  # noqa: PLC0415

    try:
        with report.working("hardware and model in lockstep"):
            compared = lockstep(config, file, seed, cycles=cycles, waves=waves, record=record, replay=replay)
    except LockstepError as error:
        return {"failure": str(error)}
    except BenchError as error:  # the simulator itself
        raise ToolError(f"{file.path}: {error.line}") from None
    report.fields(f"Hardware in lockstep with the model, seed {seed}", {
        "cycles without a difference": compared.cycles,
        "registers equal at the end": compared.registers,
        **{f"compared: {what}": count for what, count in compared.checks.items()},
        "compared by": compared.by,
        "cycles per second": round(compared.cycles_per_second),
        **({"waveform": f"{record} ({decimal(record.stat().st_size)})"} if record else {}),
    })
    return {"rtl": compared.to_json()}
