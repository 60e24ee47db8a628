"""What is shown of all launches on a `Gpu`: of a program, bundled or of a user."""

import argparse
import dataclasses
from typing import Any

from warploom import report
from warploom.arch.errors import ConfigError, warn
from warploom.golden_model.gpu.simulate import GpuRun
from warploom.host.gpu import Gpu
from warploom.host.launched import Launched
from warploom.verbs import Body
from warploom.verbs.gpu import gpu_body, show_gpu
from warploom.verbs.show_run import extents, show_timing


def check_ways(options: argparse.Namespace) -> None:
    """Warn of settings without effect. Raises `ConfigError` for options that do not go together."""
    if options.replay and not options.rtl:
        raise ConfigError("--replay: it replays on hardware: give it with --rtl")
    if options.gpu is not None and (options.rtl or options.blocks is not None):
        raise ConfigError("--gpu: leave out --rtl and --blocks, which are for one SM")
    if options.gpu is not None and options.functional:
        raise ConfigError("--gpu: leave out --functional, which times nothing")
    if options.blocks is not None and (options.rtl or options.functional):
        raise ConfigError("--blocks: only the cycle model takes a sample of the blocks: leave out --rtl and "
                          "--functional")
    if options.functional and options.settings:
        warn("--set: with --functional nothing is timed: settings only decide whether a block fits")


def describe(gpu: Gpu) -> Body:
    """The launches, and their sum."""
    timed = [launched.timed for launched in gpu.launches if launched.timed is not None]
    return {
        "execution": {"warp_instructions": sum(launched.warp_instructions for launched in gpu.launches),
                      "thread_instructions": sum(launched.thread_instructions for launched in gpu.launches),
                      "printed": printed(gpu)},
        "warnings": list(dict.fromkeys(line for launched in gpu.launches for line in launched.warnings)),
        "launches": [_launch(launched) for launched in gpu.launches],
        **({"timing": gpu.statistics.to_json()} if timed else {}),
        **({"gpu": gpu_body(runs)} if (runs := _runs(gpu)) else {}),
    }


def _runs(gpu: Gpu) -> list[GpuRun]:
    """What several SMs did in each launch, if there are several."""
    return [launched.gpu for launched in gpu.launches if launched.gpu is not None]


def _launch(launched: Launched) -> Body:
    body: dict[str, Any] = {
        "kernel": launched.kernel, "grid": list(launched.geometry.grid), "block": list(launched.geometry.block),
        "dynamic_shared": launched.geometry.shared, "warp_instructions": launched.warp_instructions,
        "thread_instructions": launched.thread_instructions,
    }
    if launched.timed is not None:
        body["timing"] = launched.timed.to_json()
    if launched.sample is not None:
        body["sample"] = dataclasses.asdict(launched.sample)
    if launched.compared is not None:
        body["rtl"] = launched.compared.to_json()
    return body


def printed(gpu: Gpu) -> str:
    """The text of all kernels."""
    return "".join(launched.printed for launched in gpu.launches)


def show_launches(name: str, gpu: Gpu) -> None:
    """Print a row for each launch."""
    report.table(f"{name}: launches on {(gpu.gpu or gpu.config).name}",
                 ("", "kernel", "grid", "block", "warp instructions", "cycles", "IPC", "occupancy", "in lockstep",
                  "blocks timed"),
                 [(str(number), *_row(launched)) for number, launched in enumerate(gpu.launches)])


def show_statistics(gpu: Gpu) -> None:
    """Print the statistics of all launches."""
    if any(launched.timed for launched in gpu.launches):
        show_timing(gpu.statistics)
    if runs := _runs(gpu):
        show_gpu([run.statistics for run in runs])
    samples = [launched.sample for launched in gpu.launches if launched.sample is not None]
    if samples:
        report.fields("Timed, a sample of each launch's blocks", {
            "blocks": f"{sum(len(sample.blocks) for sample in samples):,} of {sum(sample.of for sample in samples):,}, "
                      "evenly spaced in each grid, first and last among them",
            "counts of a launch": "are of its sample",
            "the timing above": "the launches' counts times their factors: an estimate of the whole",
        })


def _row(launched: Launched) -> tuple[object, ...]:
    """A launch in the table."""
    s, geometry, sample = launched.timed, launched.geometry, launched.sample
    return (launched.kernel, extents(geometry.grid), extents(geometry.block), launched.warp_instructions,
            *((None, None, None) if s is None else (s.cycles, s.ipc, s.occupancy)),
            None if launched.compared is None else True,
            "all" if sample is None else f"{len(sample.blocks)} of {sample.of}")
