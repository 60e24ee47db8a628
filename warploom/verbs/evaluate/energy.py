"""The energy of the register file, as ``warploom evaluate`` prints it: by part, and by assumption."""

from collections.abc import Mapping, Sequence

from warploom import report
from warploom.evaluation import register_file_energy
from warploom.evaluation.energy import sensitivity
from warploom.evaluation.energy.sensitivity import Headline
from warploom.evaluation.figures import Runs
from warploom.evaluation.study import Study
from warploom.verbs import Body


def energy(study: Study, headlines: Sequence[Headline], settings: Mapping[str, str], runs: Mapping[str, Runs]) -> Body:
    """The energy of the register file by part, and what each assumption carries of the figures, over the first
    group."""
    group, members = next(iter(study.groups.items()))
    averaged = {name: runs[name] for name in members}
    parts = by_part(group, averaged, settings)
    rows = sensitivity.rows(headlines, averaged)
    report.table(f"What assumptions carry: each over its range, averages in %, {group}", sensitivity.COLUMNS,
                 [tuple(round(value, 2) if isinstance(value, float) else value for value in row.values())
                  for row in rows])
    return {**parts, "toggling": {workload: next(iter(found.values())).toggling.shares()
                                  for workload, found in runs.items()}, "sensitivity": rows}


def by_part(group: str, runs: Mapping[str, Runs], settings: Mapping[str, str]) -> Body:
    """The energy of the register file by part, under settings, each with its baseline."""
    parts = register_file_energy.shares(runs, settings)
    report.table(f"Dynamic energy of the register file by part, % of the baseline's, {group}",
                 ("setting", *register_file_energy.PARTS, "total"),
                 [(part["setting"], *(round(part[name], 1) for name in (*register_file_energy.PARTS, "total")))
                  for part in parts])
    return {"energy": parts}
