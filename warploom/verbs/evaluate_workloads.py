"""``warploom evaluate workloads``: what the workloads are made of, beside what the sources say of theirs."""

import argparse

from warploom import report
from warploom.arch.errors import ConfigError
from warploom.evaluation.characteristics import averages, by_workload, count_all, groups
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Count the traces of all workloads."""
    if options.preset or options.settings:
        raise ConfigError("evaluate workloads: --preset and --set describe a GPU; traces are the same on all: leave "
                          "them out")
    over = groups()
    names = list(dict.fromkeys(name for members in over.values() for name in members))
    with report.counting("counting", len(names)) as done:
        counted = count_all(names, options.size, done)
    rows = averages(counted, over)
    report.table("Workloads: means over lists, %", rows[0], [row.values() for row in rows])
    return {"size": options.size, "averages": rows, "workloads": by_workload(counted),
            "groups": {name: list(members) for name, members in over.items()}}
