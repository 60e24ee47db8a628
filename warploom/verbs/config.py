"""``warploom config``: every field of a configuration, with its meaning and legal values."""

import argparse
import dataclasses
from collections.abc import Iterator
from typing import Any

from warploom import report
from warploom.arch.config import PARAMETERS, SmConfig
from warploom.arch.gpu import GPU_PARAMETERS, GPU_PARTS, GpuConfig
from warploom.arch.parameters import PARTS, Parameter
from warploom.arch.pipes import PIPE_PARAMETERS, PIPES
from warploom.verbs import Body, machine


def main(options: argparse.Namespace) -> Body:
    """Show the fields, part by part."""
    config, gpu = machine(options)
    every = [*_gpu_fields(gpu), *_fields(config)]
    for part in (*GPU_PARTS, *PARTS):
        rows = [[name, "a table" if isinstance(value, dict) else str(value), parameter.unit, parameter.legal,
                 parameter.meaning, parameter.source]
                for name, parameter, value in every if parameter.part == part]
        if rows:
            report.table(f"{part} of {config.name}", ("field", "value", "unit", "legal", "meaning", "source"), rows)
    if gpu is not None:
        print(f"The sources above are those of the values of {GpuConfig().name}, for fields of the GPU; "
              f"warploom presets --gpu {options.gpu} shows those of {gpu.name}.")
    print(f"--set FIELD=VALUE, or PART.FIELD=VALUE. The sources are those of the values of {SmConfig().name}; "
          "warploom presets shows the classes of the pipes, each of which is set as timing.CLASS.")
    fields = {
        name: {"part": parameter.part, "value": value, "unit": parameter.unit, "legal": parameter.legal,
               "meaning": parameter.meaning, "source": parameter.source}
        for name, parameter, value in every
    }
    return {"configuration": dataclasses.asdict(gpu or config), "fields": fields}


def _gpu_fields(gpu: GpuConfig | None) -> Iterator[tuple[str, Parameter, Any]]:
    """Every field of a GPU, if there is one."""
    if gpu is not None:
        yield from ((name, parameter, getattr(gpu, name)) for name, parameter in GPU_PARAMETERS.items())


def _fields(config: SmConfig) -> Iterator[tuple[str, Parameter, Any]]:
    """Every field: its name, meaning and value. Fields of a pipe have its name before theirs."""
    for name, parameter in PARAMETERS.items():
        if name != PIPES:
            yield name, parameter, getattr(config, name)
            continue
        for pipe in config.pipes:
            yield from ((f"{pipe.name}.{field}", of_field, getattr(pipe, field))
                        for field, of_field in PIPE_PARAMETERS.items())
