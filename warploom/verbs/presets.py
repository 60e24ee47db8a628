"""``warploom presets``: all presets side by side, or one of them as TOML."""

import argparse
import dataclasses
from itertools import chain

from warploom import report
from warploom.arch.config import SmConfig, flat, presets
from warploom.arch.gpu import GPU_PARAMETERS, GpuConfig, gpu_presets, gpu_text
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Show the presets."""
    if options.gpu:
        return _gpus(options.name)
    if options.name is not None:
        config = SmConfig.preset(options.name)
        print(config.to_toml(), end="")
        return {"presets": {config.name: dataclasses.asdict(config)}}
    every = {name: SmConfig.preset(name) for name in presets()}
    settings = [flat(config) for config in every.values()]
    names = dict.fromkeys(chain.from_iterable(settings))
    rows = [[field, *(values.get(field, "") for values in settings)] for field in names]
    report.table("Presets: what differs (timing: latency, initiation interval, cycles)", ("field", *every),
                 [row for row in rows if len({*row[1:]}) > 1])
    report.table("The same in all", ("field", "value"), [row[:2] for row in rows if len({*row[1:]}) == 1])
    return {"presets": {name: dataclasses.asdict(config) for name, config in every.items()}}


def _gpus(name: str | None) -> Body:
    """Show the GPUs, or the text of one of them."""
    if name is not None:
        print(gpu_text(name), end="")
        return {"presets": {name: dataclasses.asdict(GpuConfig.preset(name))}}
    every = {name: GpuConfig.preset(name) for name in gpu_presets()}
    report.table("GPUs", ("field", *every), [
        [field, *(str(getattr(gpu, field)) for gpu in every.values())] for field in GPU_PARAMETERS])
    return {"presets": {name: dataclasses.asdict(gpu) for name, gpu in every.items()}}
