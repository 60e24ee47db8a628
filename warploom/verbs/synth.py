"""``warploom synth``: area and critical path of the datapath's units."""

import argparse
import dataclasses
import json

from warploom import report
from warploom.synth.flow import synthesise
from warploom.synth.report import Report
from warploom.verbs import Body, configuration


def main(options: argparse.Namespace) -> Body:
    """Synthesise all units or one."""
    config = configuration(options)
    units = [options.unit] if options.unit else None
    found = synthesise(config, units, options.liberty, flat=options.flat)
    return {"configuration": dataclasses.asdict(config), "synthesis": show(found)}


def show(found: Report) -> Body:
    """Print a report, and return it as JSON."""
    report.console().print(found.table())
    return json.loads(found.to_json())
