"""``warploom verilog``: the Verilog of the datapath and its units."""

import argparse
import dataclasses
from pathlib import Path

from rtl.verilog import generate

from warploom import report
from warploom.verbs import Body, configuration


def main(options: argparse.Namespace) -> Body:
    """Generate, and say where."""
    config = configuration(options)
    folder = options.out or Path("build/verilog") / config.name
    with report.working("generating Verilog"):
        files = generate(config, folder, options.unit)
    return {"configuration": dataclasses.asdict(config), "files": [str(file) for file in files]}
