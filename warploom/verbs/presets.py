"""``warploom presets``: all presets side by side, or one of them as TOML."""

import argparse
import dataclasses

from warploom import report
from warploom.arch.config import SmConfig, presets
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Show what there is."""
    if options.name:
        config = SmConfig.preset(options.name)
        print(config.to_toml(), end="")
        return {"presets": {config.name: dataclasses.asdict(config)}}
    every = {name: dataclasses.asdict(SmConfig.preset(name)) for name in presets()}
    first, *_ = every.values()
    rows = [[field, *(str(values[field]) for values in every.values())] for field in first if field != "timing"]
    rows += [[f"timing.{name}", *("{} / {}".format(*values["timing"][name]) for values in every.values())]
             for name in first["timing"]]
    report.table("Presets (timing: latency / initiation interval, cycles)", ("field", *every), rows)
    return {"presets": every}
