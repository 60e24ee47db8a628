"""`launches`: the launches of a bundled kernel or program, or of a launch file, each simulated by a function."""

from warploom.arch.config import SmConfig
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.statistics import Statistics
from warploom.host.gpu import Gpu, Timing
from warploom.programs.library import program
from warploom.running import find, is_program, run


def launches(name: str, size: str | None, config: SmConfig, timing: Timing) -> list[Statistics]:
    """Run a kernel or program in a size (``default`` if None), and simulate each launch by `timing`, in order. Returns
    what it returns. Raises `LaunchError` and `ExecutionError`."""
    if not is_program(name):
        file = find(name, size)
        return [timing(config, Stream(run(file, config, record=False).program, file.launch))]
    this, gpu = program(name), Gpu(config, timing=timing)
    this.run(gpu, this.inputs(size or "default"))
    return [launched.statistics for launched in gpu.launches]
