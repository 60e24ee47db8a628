"""``warploom evaluate combination``: all combinations of the mechanisms, on all workloads unless some are named."""

from warploom import report
from warploom.evaluation import combination
from warploom.evaluation.study import Study
from warploom.verbs import Body
from warploom.verbs.evaluate.energy import by_part


def show(study: Study) -> Body:
    """Every workload under every combination."""
    runs = study.runs(study.cases())
    for group, members in study.groups.items():
        rows = combination.rows(runs, {group: members})
        report.table(f"{study.config.name}, {group} ({len(members)}): ratios to the baseline", combination.COLUMNS,
                     [[getattr(row, name) for name in combination.COLUMNS] for row in rows])
    return {"size": study.wanted.size, "groups": {name: list(members) for name, members in study.groups.items()},
            **combination.to_json(runs, study.groups),
            **by_part(f"all {len(runs)}", runs, dict.fromkeys(study.configurations(), combination.NONE))}
