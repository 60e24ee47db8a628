"""`launches`: the launches of a bundled kernel or program, or of a launch file, each simulated by a function."""

import argparse

from warploom import targets
from warploom.arch.config import SmConfig
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.statistics import Statistics
from warploom.host.gpu import Gpu, Timing
from warploom.programs.library import program
from warploom.running import find, is_program, run


def launches(options: argparse.Namespace, config: SmConfig, timing: Timing) -> list[Statistics]:
    """Run the kernel or program of a command in its size (``default`` if None), and simulate each launch by `timing`,
    in order. Returns what it returns. Raises `LaunchError` and `ExecutionError`, and `ConfigError` if the command would
    replace a file of the launch."""
    name, size = options.kernel, options.size
    if not is_program(name):
        file = find(name, size)
        targets.check_launch(options, file.files)
        return [timing(config, Stream(run(file, config, record=False).program, file.launch))]
    this, gpu = program(name), Gpu(config, timing=timing)
    this.run(gpu, this.inputs(size or "default"))
    return [launched.statistics for launched in gpu.launches]
