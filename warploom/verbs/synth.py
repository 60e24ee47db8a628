"""``warploom synth``: area and critical path of the datapath's units, of a unit outside the datapath with its parts, or
of the datapath under all combinations; or a unit on an FPGA."""

import argparse
import dataclasses
import json
from collections.abc import Sequence
from statistics import geometric_mean

from warploom import report
from warploom.arch.errors import ConfigError
from warploom.arch.settings import parsed
from warploom.evaluation.simulations import cases, simulate_all
from warploom.kernels.library import kernels
from warploom.rtl.verilog import UNITS
from warploom.synth import fpga
from warploom.synth.combinations import Combination, combinations, synthesise_all
from warploom.synth.compare import logic_um2
from warploom.synth.flow import TOP, synthesise
from warploom.synth.report import Report, Row, ends
from warploom.verbs import Body, configuration

SPEEDS = {"ipc": "IPC", "instructions_per_ns": "IPC * GHz"}
"""Columns of the table of combinations."""


def main(options: argparse.Namespace) -> Body:
    """Synthesise all units or one, or the datapath under all combinations of mechanisms."""
    if options.ipc and not (options.all or options.pairs):
        raise ConfigError("--ipc: it is of whole datapaths: add --all or --pairs")
    config = configuration(options)
    body: Body = {"configuration": dataclasses.asdict(config)}
    if options.fpga:
        return body | {"fpga": _fpga(options)}
    if options.all or options.pairs:
        return body | _combined(options)
    is_alone = options.unit in UNITS and UNITS[options.unit].alone
    units = [options.unit] if options.unit and not is_alone else None
    found = synthesise(config, units, options.liberty, top=options.unit if is_alone else TOP, flat=options.flat)
    return body | {"synthesis": show(found), "failure": _longer({row.unit: row for row in found.rows}, options.max_ps)}


def show(found: Report) -> Body:
    """Print a report, and return it as JSON."""
    console = report.console()
    console.print(found.sizes())
    console.print(found.paths())
    return json.loads(found.to_json())


def _fpga(options: argparse.Namespace) -> Body:
    """Print and return what a unit takes of an FPGA."""
    for option in ("all", "pairs", "liberty", "flat", "max_ps"):
        if getattr(options, option) not in (None, False):
            raise ConfigError(f"--{option.replace('_', '-')}: must be left out with --fpga: it is about cells of a "
                              "library")
    if options.unit is None:
        raise ConfigError(f"--fpga: it is of one unit: name it with --unit, such as {TOP}")
    fitted = fpga.fit(configuration(options), options.unit)
    report.table(f"{fitted.unit} on {fpga.DEVICE}, out of context", ("resource", "used", "of"),
                 [(name.replace("_", " "), count, fpga.CAPACITY[name]) for name, count in fitted.used().items()])
    report.fields("Clock", {"MHz": (fitted.mhz or "no path between registers") if fitted.fits else
                            "none: it does not fit, and was not placed"})
    return dataclasses.asdict(fitted)


def _combined(options: argparse.Namespace) -> Body:
    """A table with a row for each combination, or for as many as have all pairs. Settings given by ``--set`` are those
    of all of them."""
    held = {parsed(setting).field for setting in options.settings}
    wanted = combinations(configuration(options), held, only_pairs=options.pairs)
    with report.counting("synthesis", len(wanted)) as done:
        rows = synthesise_all(wanted, options.liberty, done, flat=options.flat)
    speeds = _speeds(wanted, rows, options.ipc) if options.ipc else [{} for _ in wanted]
    columns = [SPEEDS[name] for name in speeds[0]]
    report.table(
        f"Combinations of mechanisms on {' '.join([options.preset, *options.settings])}",
        ("mechanisms", "logic µm²", "SRAM Kibit", "path ps", "with SRAM ps", *columns, "from → to"),
        [[str(one), round(logic_um2(row)), row.sram_bits // 1024, round(row.delay_ps), round(row.sram_delay_ps),
          *(f"{value:.3f}" for value in speed.values()), ends(row)]
         for one, row, speed in zip(wanted, rows, speeds, strict=True)])
    found = [{"settings": one.settings, "datapath": dataclasses.asdict(row), **speed}
             for one, row, speed in zip(wanted, rows, speeds, strict=True)]
    by_name = {str(one): row for one, row in zip(wanted, rows, strict=True)}
    return {"combinations": found, "failure": _longer(by_name, options.max_ps)}


def _speeds(wanted: Sequence[Combination], rows: Sequence[Row], size: str) -> list[dict[str, float]]:
    """For each combination the instructions of a cycle, the geometric mean over all kernels in a size, and those of a
    nanosecond if its longest path is the cycle."""
    names = [kernel.name for kernel in kernels()]
    needed = cases(names, size, {str(one): one.config for one in wanted})
    with report.counting("simulating", len(needed)) as done:
        simulated = simulate_all(needed, lambda case: done(f"{case.workload}, {case.setting}"))
    for error in simulated.failed.values():
        raise error
    runs = simulated.runs
    ipcs = [geometric_mean(runs[name][str(one)].statistics.ipc for name in names) for one in wanted]
    return [{"ipc": ipc, "instructions_per_ns": 1000 * ipc / row.delay_ps} for ipc, row in zip(ipcs, rows, strict=True)]


def _longer(rows: dict[str, Row], limit: float | None) -> str | None:
    """The paths above a limit, printed; the longest is the failure."""
    above = sorted((row for row in rows.items() if limit is not None and row[1].delay_ps > limit),
                   key=lambda named: -named[1].delay_ps)
    lines = [f"{name}: {row.delay_ps:,.1f} ps, more than {limit:,.1f} ps: {row.start} → {row.end}"
             for name, row in above]
    for line in lines:
        print(line)
    return lines[0] if lines else None
