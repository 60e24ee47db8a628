"""Writes a unit to files: its SystemVerilog, a package of its ports' types, a lint waiver, and a sidecar that describes
configuration, ports and fields (`docs/verilog.md`)."""

import dataclasses
import hashlib
import json
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warploom.arch.config import SmConfig, flat, presets
from warploom.files import write_whole
from warploom.origin import commit, sources
from warploom.rtl.package import package
from warploom.rtl.shared import module_name
from warploom.rtl.verilog import create, ports, to_verilog

WAIVERS = {
    "DECLFILENAME": "one file holds all modules of a unit",
    "UNUSEDSIGNAL": "a unit takes whole structs and uses some fields; operators give bits that nobody needs",
    "WIDTHEXPAND": "Yosys writes operators whose operands take the width of their context",
    "WIDTHTRUNC": "Yosys writes a comparison with zero as a logical not, and a shift as wide as its operand",
    "CASEINCOMPLETE": "Yosys assigns the default before the case statement",
}
"""Verilator warnings that are disabled, and the reasons. All others are errors."""

LONGEST = 60
"""Maximum characters of a configuration in a file's name."""


@dataclass(frozen=True)
class Files:
    """The files of a unit, as `generate` writes them."""

    verilog: Path
    package: Path
    waiver: Path
    sidecar: Path


def settings(config: SmConfig) -> dict[str, str]:
    """The fields in which a configuration differs from the preset of its name or, without one, from the defaults."""
    base = flat(SmConfig.preset(config.name) if config.name in presets() else SmConfig(name=config.name))
    return {name: value for name, value in flat(config).items() if value != base.get(name)}


def short_name(config: SmConfig) -> str:
    """A name for files: that of the configuration, and the settings in which it differs, or their digest if that is
    long.
    """
    different = [f"{name} {value}" for name, value in settings(config).items()]
    words = [re.sub(r"\W+", "_", setting).strip("_") for setting in different]
    name = "-".join([config.name, *words])
    if len(name) <= LONGEST:
        return name
    return f"{config.name}-{hashlib.sha256(repr(different).encode()).hexdigest()[:12]}"


def generate(
    config: SmConfig, out_dir: Path | str, unit: str = "Datapath", *, probe: bool = False, source_lines: bool = False
) -> Files:
    """Write the files of a unit (`create`) to `out_dir`. Same configuration and commit, same bytes.

    Raises `ConfigError` as `create` does, `ToolError` if Yosys fails or the folder cannot be written. Each file is
    written atomically.
    """
    component, name = create(config, unit, probe=probe), module_name(unit)
    files = files_of(config, Path(out_dir), unit, probe=probe)
    described = ports(component)
    body = to_verilog(component, name, source_lines=source_lines)
    inputs = set(re.findall(r"^  input wire (\w+)", body.split(f"module {name} (")[1].split(");")[0], re.MULTILINE))
    sidecar = {
        "configuration": dataclasses.asdict(config), "settings": settings(config), "commit": commit(),
        "unit": unit, "module": name,
        "clock": {"name": "clk", "edge": "rising"} if "clk" in inputs else None,
        "reset": {"name": "rst", "active": "high", "kind": "synchronous"} if "rst" in inputs else None,
        "ports": described, "units": re.findall(r"^module (\w+)", body, flags=re.MULTILINE),
    }
    head = _header(config, unit, sidecar)
    files.verilog.parent.mkdir(parents=True, exist_ok=True)
    _write(files.verilog, head + body)
    _write(files.package, head + package(name, described))
    _write(files.waiver, _waiver(files.verilog.stem))
    _write(files.sidecar, json.dumps(sidecar, indent=1) + "\n")
    return files


def files_of(config: SmConfig, folder: Path, unit: str, *, probe: bool = False) -> Files:
    """The files of a unit in a folder."""
    stem = f"{short_name(config)}_{module_name(unit)}{'_probe' if probe else ''}"
    return Files(*(folder / f"{stem}{end}" for end in (".sv", "_pkg.sv", ".vlt", ".json")))


def _header(config: SmConfig, unit: str, sidecar: dict[str, Any]) -> str:
    """The comment at the top of a file."""
    different = ", ".join(f"{name} = {value}" for name, value in settings(config).items()) or "none"
    every = ", ".join(f"{name} = {value}" for name, value in flat(config).items())
    clock = sidecar["clock"] and "clk, rising edge"
    reset = sidecar["reset"] and "rst, synchronous, active high"
    lines = [f"Warploom {unit}, configuration {config.name}, {sources()}. Generated: do not edit.",
             f"Clock: {clock or 'none'}. Reset: {reset or 'none'}.",
             f"Settings that differ from {config.name}: {different}.",
             f"All settings: {every}."]
    return "\n".join(f"// {part}" for line in lines for part in textwrap.wrap(line, 117)) + "\n\n"


def _waiver(stem: str) -> str:
    """Verilator's control file for the files of a unit."""
    rules = (f'// {reason}\nlint_off -rule {rule} -file "*{stem}*.sv"\n' for rule, reason in WAIVERS.items())
    return "`verilator_config\n" + "".join(rules)


def _write(path: Path, text: str) -> None:
    write_whole(path, text.encode())
