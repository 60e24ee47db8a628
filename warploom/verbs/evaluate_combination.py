"""``warploom evaluate combination``: all combinations of the mechanisms, on all workloads unless some are named."""

import argparse

from warploom import report
from warploom.arch.config import SmConfig
from warploom.evaluation import characteristics, combination
from warploom.evaluation.simulations import arranged, cases, results
from warploom.evaluation.workloads import chosen, remaining
from warploom.verbs import Body


def main(options: argparse.Namespace, config: SmConfig) -> Body:
    """Simulate every workload under every combination. Workloads that fail are left out, and added to
    `options.failed`."""
    groups = chosen(options.workloads, "") if options.workloads else characteristics.groups()
    names = dict.fromkeys(name for members in groups.values() for name in members)
    needed = cases(names, options.size, combination.configurations(config), options.blocks)
    with report.counting("simulating", len(needed)) as done:
        found = results(needed, lambda case: done(f"{case.workload}, {case.setting}"), options.scheduler)
    simulated = arranged(needed, found)
    options.failed.update(simulated.failed)
    groups = remaining(groups, simulated.runs)
    for group, members in groups.items():
        rows = combination.rows(simulated.runs, {group: members})
        report.table(f"{config.name}, {group} ({len(members)}): ratios to the baseline", combination.COLUMNS,
                     [[getattr(row, name) for name in combination.COLUMNS] for row in rows])
    return {"size": options.size, "groups": {name: list(members) for name, members in groups.items()},
            **combination.to_json(simulated.runs, groups)}
