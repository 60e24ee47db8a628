"""``warploom run``: a kernel on the golden SM, and optionally on the hardware in lockstep with it."""

import argparse
import dataclasses
import time
from pathlib import Path

from rich.filesize import decimal

from warploom import report, targets
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, ExecutionError, ToolError, warn
from warploom.arch.gpu import GpuConfig
from warploom.arch.mechanisms import MECHANISMS
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.sample import Sample, Sampled
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics
from warploom.kernels.launchfile import LaunchFile, Options
from warploom.running import Executed, find, is_program, run, save
from warploom.tb import seeds
from warploom.verbs import Body, machine, need_simulator
from warploom.verbs.gpu import gpu_body, show_gpu


def main(options: argparse.Namespace) -> Body:
    """Run a program, a bundled kernel, or a launch file."""
    if options.replay and (options.waves or not options.rtl):
        raise ConfigError("--replay: it replays on hardware, without waves: give it with --rtl, and without --waves")
    if options.gpu is not None and (options.rtl or options.blocks is not None):
        raise ConfigError("--gpu: leave out --rtl and --blocks, which are for one SM")
    if options.gpu is not None and options.functional:
        raise ConfigError("--gpu: leave out --functional, which times nothing")
    if options.blocks is not None and (options.rtl or options.functional):
        raise ConfigError("--blocks: only the cycle model takes a sample of the blocks: leave out --rtl and "
                          "--functional")
    if options.seed is not None and not options.rtl:
        raise ConfigError("--seed: only hardware has power-up contents: add --rtl")
    if options.functional and options.settings:
        warn("--set: with --functional nothing is timed: settings only decide whether a block fits")
    if is_program(options.kernel):
        from warploom.verbs import run_program  # noqa: PLC0415  (it imports this module)

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
        Options(options.optimise, options.virtual_registers, options.max_registers, options.heap_base))
    targets.check_launch(options, file.files, file.outputs if options.out else ())
    try:
        with report.working("executing"):
            executed = run(file, config, record=False)
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


def describe(executed: Executed) -> Body:
    """The kernel, its launch, the amount executed, and the comparison of the results."""
    file, program, execution = executed.file, executed.program, executed.execution
    return {
        "kernel": {"entry": program.name, "launch_file": str(file.path), "ptx": str(file.ptx),
                   "registers": program.registers, "instructions": len(program.instructions),
                   "shared_bytes": program.shared_bytes + file.launch.dynamic_shared,
                   "grid": list(file.launch.grid), "block": list(file.launch.block)},
        "execution": {"warp_instructions": execution.warp_instructions,
                      "thread_instructions": execution.thread_instructions, "printed": execution.printed},
        "warnings": list(executed.warnings),
        "checked": [expectation.name for expectation in file.expectations],
        "mismatches": list(executed.mismatches),
        "failure": executed.mismatches[0] if executed.mismatches else None,
    }


def show(executed: Executed) -> None:
    """Print the amount executed, and warnings to standard error."""
    for warning in executed.warnings:
        warn(warning)
    launch, program, execution = executed.file.launch, executed.program, executed.execution
    report.fields(f"{program.name}: {executed.file.path}", {
        "grid x block": f"{extents(launch.grid)} x {extents(launch.block)} threads",
        "registers per thread": program.registers,
        "shared memory per block, bytes": program.shared_bytes + launch.dynamic_shared,
        "warp instructions": execution.warp_instructions,
        "thread instructions": execution.thread_instructions,
        "results": executed.verdict,
    })
    show_printed(execution.printed)
    if executed.mismatches:
        report.table("Not as expected", ("what",), [[line] for line in executed.mismatches])


def show_printed(text: str) -> None:
    """Print the kernel's text, unchanged."""
    if text:
        report.text("Printed by the kernel", text)


def show_timing(statistics: Statistics) -> None:
    """Print the stalls and the statistics of the register file."""
    s = statistics
    report.fields(f"Timing on {s.preset}", {
        "cycles": s.cycles,
        "IPC (warp instructions per cycle)": s.ipc,
        "occupancy (resident warps / warp slots)": s.occupancy,
        "bank requests": f"{s.bank_requests:,} ({sum(s.bank_reads):,} reads, {sum(s.bank_writes):,} writes)",
        "bank accesses": f"{s.bank_accesses:,} ({_coalesced(s)})",
        "collector writes": f"{s.collector_writes:,}, of {s.operands_stored:,} operands",
        "refused requests": f"{s.bank_conflicts:,} bank conflicts, {s.port_conflicts:,} port conflicts",
        "instructions reading 0, 1, 2, 3 registers": ", ".join(f"{count:,}" for count in s.operands),
        "source operands of 1, 2, 3, 4 bytes": ", ".join(f"{count:,}" for count in s.source_widths),
        "L1": f"{s.l1_hits:,} hits, {s.l1_misses:,} misses, {s.l1_merges:,} merged",
        "shared memory": f"{s.shared_instructions:,} instructions, {s.shared_passes:,} passes",
        "columns of 4 B enabled": f"{s.column_reads:,} for reading, {s.column_writes:,} for writing",
        "lanes of SP and SFU": f"{s.lane_operations:,}, {_share(s.lanes_inactive, s)} inactive, "
                               f"{_share(s.lanes_trivial, s)} trivial",
        **{what: f"{s.counted[events.key][name]:,}" for mechanism in MECHANISMS for events in mechanism.events
           for name, what in events.shown.items() if name in s.counted[events.key]},
    })
    idle = sum(s.stalls.values())
    report.table("Scheduler cycles without an issue", ("cause", "cycles", "share"),
                 [(cause, count, f"{count / idle:.1%}") for cause, count in s.stalls.items() if count])


def _coalesced(statistics: Statistics) -> str:
    pairs = [f"{count:,} {kind.replace('_', '-')}" for kind, count in statistics.coalesced.items() if count]
    return f"with two requests: {', '.join(pairs)}" if pairs else "one request each"


def _share(lanes: int, statistics: Statistics) -> str:
    return f"{lanes / max(statistics.lane_operations, 1):.1%}"


def extents(three: tuple[int, int, int]) -> str:
    """A grid or block without the trailing dimensions of 1."""
    used = [*three]
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return str(used[0]) if len(used) == 1 else f"({', '.join(map(str, used))})"
