"""``warploom config``: every field of a configuration, with its meaning and legal values."""

import argparse
import dataclasses
from collections.abc import Iterator
from typing import Any

from warploom import report
from warploom.arch.config import PARAMETERS, SmConfig
from warploom.arch.parameters import PARTS, Parameter
from warploom.arch.pipes import PIPE_PARAMETERS, PIPES
from warploom.verbs import Body, configuration


def main(options: argparse.Namespace) -> Body:
    """Show the fields, part by part."""
    config = configuration(options)
    every = list(_fields(config))
    for part in PARTS:
        rows = [[name, "a table" if isinstance(value, dict) else str(value), parameter.unit, parameter.legal,
                 parameter.meaning, parameter.source]
                for name, parameter, value in every if parameter.part == part]
        report.table(f"{part} of {config.name}", ("field", "value", "unit", "legal", "meaning", "source"), rows)
    print(f"--set FIELD=VALUE, or PART.FIELD=VALUE. The sources are those of the values of {SmConfig().name}; "
          "warploom presets shows the classes of the pipes, each of which is set as timing.CLASS.")
    fields = {
        name: {"part": parameter.part, "value": value, "unit": parameter.unit, "legal": parameter.legal,
               "meaning": parameter.meaning, "source": parameter.source}
        for name, parameter, value in every
    }
    return {"configuration": dataclasses.asdict(config), "fields": fields}


def _fields(config: SmConfig) -> Iterator[tuple[str, Parameter, Any]]:
    """Every field: its name, meaning and value. Fields of a pipe have its name before theirs."""
    for name, parameter in PARAMETERS.items():
        if name != PIPES:
            yield name, parameter, getattr(config, name)
            continue
        for pipe in config.pipes:
            yield from ((f"{pipe.name}.{field}", of_field, getattr(pipe, field))
                        for field, of_field in PIPE_PARAMETERS.items())
