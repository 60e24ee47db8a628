"""``warploom regress``: the long regression, cached and resumable."""

import argparse
import dataclasses
import shlex

from warploom import report
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.mechanisms import MECHANISMS
from warploom.tb.recording import compare, record
from warploom.tb.regress import Outcome, disagreements, regress
from warploom.verbs import Body, configuration

SETTINGS = ("name", *(field for mechanism in MECHANISMS for field in mechanism.varied))
"""Fields of the configuration that vary from run to run."""


def main(options: argparse.Namespace) -> Body:
    """Run all runs that have not passed yet with these seeds, report each, and list all; or record the golden model's
    runs, or compare them with a recording."""
    config = configuration(options)
    if options.against and not options.against.exists():
        raise ConfigError(f"--against: {options.against}: no such file")
    if options.record or options.against:
        return _recorded(config, options)
    config.check_hardware()
    chosen = ["--preset", options.preset, *(word for setting in options.settings for word in ("--set", setting))]
    print(f"After an interruption, or to run the same again: warploom regress {shlex.join(chosen)} "
          f"--seed {options.seed}", flush=True)
    outcomes = regress(config, options.seed, _show)
    rows = [_describe(outcome) for outcome in outcomes]
    columns = ("kernel", "size", "verdict", "by", "cycles", "warp_instructions")
    report.table(f"Lockstep, seed {options.seed}", ("settings", *columns),
                 [[outcome.case.settings, *(row[column] for column in columns)]
                  for outcome, row in zip(outcomes, rows, strict=True)])
    unequal = disagreements(outcomes)
    for line in unequal:
        print(line)
    failures = [row["failure"] for row in rows if row["failure"]] + unequal
    return {"configuration": dataclasses.asdict(config), "seed": options.seed, "runs": rows,
            "failure": failures[0] if failures else None}


def _recorded(config: SmConfig, options: argparse.Namespace) -> Body:
    """The regression on the golden model alone, to a file or against one."""
    body: Body = {"configuration": dataclasses.asdict(config), "failure": None}
    if options.record:
        runs = record(config, options.record, _say)
        print(f"{len(runs)} runs recorded: {options.record}")
        return body | {"recorded": len(runs)}
    different = compare(config, options.against, _say)
    for line in different:
        print(line)
    print(f"{len(different)} runs differ from {options.against}" if different else f"all as in {options.against}")
    return body | {"different": different, "failure": different[0] if different else None}


def _say(line: str) -> None:
    print(line, flush=True)


def _show(outcome: Outcome) -> None:
    print(f"{outcome.case}: {_verdict(outcome)}{f', by {outcome.by}' if outcome.by else ''}", flush=True)


def _describe(outcome: Outcome) -> Body:
    case, ran = outcome.case, not outcome.failure
    settings = {name: getattr(case.config, name) for name in SETTINGS}
    return {"kernel": case.kernel, "size": case.size, **settings, "verdict": _verdict(outcome),
            "by": outcome.by, "cycles": outcome.cycles if ran else None,
            "warp_instructions": outcome.warp_instructions if ran else None, "failure": outcome.failure}


def _verdict(outcome: Outcome) -> str:
    if outcome.failure:
        return "differs"
    return "equal, as before" if outcome.cached else "equal"
