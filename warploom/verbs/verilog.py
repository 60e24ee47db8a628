"""``warploom verilog``: the Verilog of the datapath or of a unit, with what tools and people need beside it."""

import argparse
import dataclasses
import json
from pathlib import Path

from warploom import report, targets
from warploom.arch.config import SmConfig
from warploom.rtl.emit import files_of, generate
from warploom.rtl.verilog import UNITS, any_of
from warploom.verbs import Body, configuration

FOLDER = Path("build/verilog")


def main(options: argparse.Namespace) -> Body:
    """Generate, and say what is where; or list the units."""
    if options.units:
        return _list()
    config, folder = configuration(options), options.out or FOLDER
    targets.check_made(options, dataclasses.astuple(files_of(config, folder, options.unit, probe=options.probe)))
    made = generate_unit(config, options.unit, folder, probe=options.probe, source_lines=options.src)
    return {"configuration": dataclasses.asdict(config), **made}


def _list() -> Body:
    """All units, and the settings without which there are none."""
    report.table("Units", ("unit", "needs"), [
        (name, ", ".join(f"{field} = {any_of(values)}" for field, values in unit.needs))
        for name, unit in UNITS.items()])
    return {"units": {name: {field: [str(value) for value in values] for field, values in unit.needs}
                      for name, unit in UNITS.items()}}


def generate_unit(
    config: SmConfig, unit: str, folder: Path, *, probe: bool = False, source_lines: bool = False
) -> Body:
    """Write a unit's files, and print their paths and the modules in them."""
    with report.working("generating Verilog"):
        files = generate(config, folder, unit, probe=probe, source_lines=source_lines)
    described = json.loads(files.sidecar.read_text())
    report.fields(f"{unit} of {config.name}", {
        "Verilog": files.verilog, "types of ports": files.package, "lint waiver": files.waiver,
        "ports and fields": files.sidecar, "top module": described["module"], "modules": ", ".join(described["units"]),
    })
    paths = {name: str(path) for name, path in dataclasses.asdict(files).items()}
    return {"unit": unit, "module": described["module"], **paths}
