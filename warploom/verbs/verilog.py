"""``warploom verilog``: the Verilog of the datapath or of a unit, with its sidecar."""

import argparse
import dataclasses
import json
from pathlib import Path

from rtl.verilog import generate
from warploom import report
from warploom.verbs import Body, configuration


def main(options: argparse.Namespace) -> Body:
    """Generate, and say what is where."""
    config = configuration(options)
    folder = options.out or Path("build/verilog")
    with report.working("generating Verilog"):
        verilog, sidecar = generate(config, folder, options.unit)
    described = json.loads(sidecar.read_text())
    report.fields(f"{options.unit} of {config.name}", {
        "Verilog": verilog, "ports and fields": sidecar, "top module": described["module"],
        "modules": ", ".join(described["units"]),
    })  # fmt: skip
    return {"configuration": dataclasses.asdict(config), "unit": options.unit, "module": described["module"],
            "verilog": str(verilog), "sidecar": str(sidecar)}  # fmt: skip
