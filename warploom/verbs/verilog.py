"""``warploom verilog``: the Verilog of the datapath or of a unit, with its sidecar."""

import argparse
import dataclasses
import json
from pathlib import Path

from rtl.verilog import generate
from warploom import report
from warploom.arch.config import SmConfig
from warploom.verbs import Body, configuration

FOLDER = Path("build/verilog")


def main(options: argparse.Namespace) -> Body:
    """Generate, and say what is where."""
    config = configuration(options)
    made = generate_unit(config, options.unit, options.out or FOLDER, probe=options.probe)
    return {"configuration": dataclasses.asdict(config), **made}


def generate_unit(config: SmConfig, unit: str, folder: Path, *, probe: bool = False) -> Body:
    """Write a unit's Verilog and sidecar, and print their paths and the modules in them."""
    with report.working("generating Verilog"):
        verilog, sidecar = generate(config, folder, unit, probe=probe)
    described = json.loads(sidecar.read_text())
    report.fields(f"{unit} of {config.name}", {
        "Verilog": verilog, "ports and fields": sidecar, "top module": described["module"],
        "modules": ", ".join(described["units"]),
    })  # fmt: skip
    return {"unit": unit, "module": described["module"], "verilog": str(verilog), "sidecar": str(sidecar)}
