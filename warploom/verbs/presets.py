"""``warploom presets``: all presets side by side, or one of them as TOML."""

import argparse
import dataclasses

from warploom import report
from warploom.arch.config import SmConfig, flat, presets
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Show the presets."""
    if options.name:
        config = SmConfig.preset(options.name)
        print(config.to_toml(), end="")
        return {"presets": {config.name: dataclasses.asdict(config)}}
    every = {name: SmConfig.preset(name) for name in presets()}
    settings = [flat(config) for config in every.values()]
    rows = [[field, *(values.get(field, "") for values in settings)] for field in settings[0]]
    report.table("Presets (timing: latency, initiation interval, cycles)", ("field", *every), rows)
    return {"presets": {name: dataclasses.asdict(config) for name, config in every.items()}}
