"""``warploom energy``: the dynamic energy that a run takes in the register file, by event."""

import argparse
import dataclasses
from collections.abc import Sequence

from warploom import report
from warploom.arch.config import SmConfig
from warploom.evaluation import register_file_energy
from warploom.evaluation.energy.costs import Spent
from warploom.evaluation.figures import Run
from warploom.evaluation.metrics import share
from warploom.evaluation.traces.toggling import Wires
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics, total
from warploom.golden_model.trace import Traced
from warploom.golden_model.values import Values
from warploom.verbs import Body, configuration
from warploom.watch.launches import launches
from warploom.watch.watched import Watched


def main(options: argparse.Namespace) -> Body:
    """Run the kernel or program on the golden SM, and print what its events take."""
    config, wires = configuration(options), Wires()

    def timing(config: SmConfig, trace: Traced) -> Statistics:
        return simulate(config, Watched(trace, wires.add)).statistics

    with report.working("timing"):
        statistics = total(launches(options, config, timing))
    run = Run(config, statistics, Values(), toggling=wires.toggling)
    spent = [one for one in register_file_energy.spent(run) if one.energy]
    body = {
        "configuration": dataclasses.asdict(config), "kernel": statistics.kernel, "cycles": statistics.cycles,
        "warp_instructions": statistics.warp_instructions, "toggling": run.toggling.share(config),
        "pj": sum(one.energy for one in spent), "events": [one._asdict() | {"pj": one.energy} for one in spent],
    }
    _show(options.kernel, spent, body)
    return body


def _show(name: str, spent: Sequence[Spent], body: Body) -> None:
    """Print the events, and their sum."""
    whole = body["pj"]
    report.table(f"{name}: dynamic energy of the register file, estimated (docs/energy.md)",
                 ("part", "event", "number", "pJ each", "nJ", "%"),
                 [(one.part, one.event, one.number, one.each, one.energy / 1000, share(one.energy, whole))
                  for one in spent])
    report.fields("All of them", {
        "nJ": whole / 1000, "pJ for each warp instruction": whole / body["warp_instructions"],
        "cycles": body["cycles"], "moved bits that toggle, %": 100 * body["toggling"],
    })
