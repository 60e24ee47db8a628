"""``warploom demo``: one kernel through everything that Warploom does. ``make run`` calls it."""

import argparse
import dataclasses
from pathlib import Path

from warploom import report
from warploom.golden_model.simulate import simulate
from warploom.rtl.emit import short_name
from warploom.running import find, run
from warploom.synth.flow import synthesise
from warploom.verbs import Body, configuration, need_simulator, synth
from warploom.verbs.run import run_rtl
from warploom.verbs.show_run import describe, show, show_timing
from warploom.verbs.verilog import generate_unit

FOLDER = Path("build")
WAVEFORM_CYCLES = 500


def main(options: argparse.Namespace) -> Body:
    """Verilog, execution, timing, lockstep and synthesis, and the paths of all files."""
    config = configuration(options)
    config.check_hardware()
    need_simulator()
    file = find(options.kernel, "tiny")
    hardware = generate_unit(config, "Datapath", FOLDER / "verilog")
    with report.working("executing"):
        executed = run(file, config)
    show(executed)
    assert executed.execution.trace is not None
    with report.working("timing"):
        statistics = simulate(config, executed.execution.trace).statistics
    show_timing(statistics)
    body = {"configuration": dataclasses.asdict(config), **describe(executed), "timing": statistics.to_json(),
            "verilog": hardware}
    body |= run_rtl(config, file, 1, statistics.cycles, waves=WAVEFORM_CYCLES)
    body["synthesis"] = synth.show(synthesise(config))
    path = FOLDER / f"{short_name(config)}_{file.path.parent.name}.json"
    report.write_json(path, report.document("demo", body))
    report.fields("Where things are", {
        "Verilog": hardware["verilog"], "ports and fields": hardware["sidecar"],
        "waveform": body["rtl"]["waveform"] if "rtl" in body else None, "report": path,
    })
    return body
