"""``warploom config``: every field of a configuration, with what it means and may be."""

import argparse
import dataclasses

from warploom import report
from warploom.arch.config import PARAMETERS, SmConfig
from warploom.arch.parameters import PARTS
from warploom.verbs import Body, configuration


def main(options: argparse.Namespace) -> Body:
    """Show the fields, part by part."""
    config = configuration(options)
    values = dataclasses.asdict(config)
    for part in PARTS:
        rows = [[name, "a table" if name == "timing" else str(values[name]), parameter.unit, parameter.legal,
                 parameter.meaning, parameter.source]
                for name, parameter in PARAMETERS.items() if parameter.part == part]
        report.table(f"{part} of {config.name}", ("field", "value", "unit", "legal", "meaning", "source"), rows)
    print(f"--set FIELD=VALUE, or PART.FIELD=VALUE. The sources are those of the values of {SmConfig().name}; "
          "warploom presets shows the timing.")
    fields = {
        name: {"part": parameter.part, "value": values[name], "unit": parameter.unit, "legal": parameter.legal,
               "meaning": parameter.meaning, "source": parameter.source}
        for name, parameter in PARAMETERS.items()
    }
    return {"configuration": values, "fields": fields}
