"""``warploom evaluate sampling``: the errors of samples of blocks, on all workloads unless some are named."""

import argparse
from dataclasses import asdict, astuple

from warploom import report
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.evaluation import sampling
from warploom.evaluation.figures import Run
from warploom.evaluation.simulations import cases, results
from warploom.evaluation.workloads import ALL, chosen
from warploom.verbs import Body


def main(options: argparse.Namespace, config: SmConfig) -> Body:
    """Time every workload whole and by samples. Workloads that fail are left out, and added to `options.failed`."""
    if options.blocks:
        raise ConfigError("evaluate sampling: it takes samples of several sizes: leave --blocks out")
    groups = chosen(options.workloads or [ALL], "")
    names = list(dict.fromkeys(name for members in groups.values() for name in members))
    with report.counting("executing", len(names)) as done:
        sizes = sampling.blocks(names, options.size, done)
    needed = [case for name in names for count in (None, *sampling.COUNTS) if count is None or sizes[name][0] > count
              for case in cases([name], options.size, {"off": config}, count)]
    with report.counting("simulating", len(needed)) as done:
        found = results(needed, lambda case: done(f"{case.workload}, {case.blocks or 'all'} blocks"),
                        options.scheduler)
    options.failed.update({case: run for case, run in found.items() if not isinstance(run, Run)})
    runs: dict[str, dict[int | None, Run]] = {}
    failed = {case.workload for case in options.failed}
    for case, run in found.items():
        if isinstance(run, Run) and case.workload not in failed:
            runs.setdefault(case.workload, {})[case.blocks] = run
    errors = sampling.errors(runs, sizes)
    summaries = sampling.summaries(errors)
    report.table(f"{config.name}: errors of samples, % ({options.size} size)", sampling.COLUMNS, map(astuple, errors))
    report.table("Absolute errors over workloads, %", sampling.SUMMARIES, map(astuple, summaries))
    return {"size": options.size, "samples": [asdict(error) for error in errors],
            "summaries": [asdict(summary) for summary in summaries]}
