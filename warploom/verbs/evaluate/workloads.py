"""``warploom evaluate workloads``: what the workloads are made of, beside what the sources say of theirs."""

from warploom import report
from warploom.evaluation.study import Study
from warploom.evaluation.workload_mix import COUNTS, averages, by_workload
from warploom.verbs import Body


def show(study: Study) -> Body:
    """The counts of the workloads' traces."""
    counted = study.by_workload(COUNTS, "counting")
    rows = averages(counted, study.groups)
    columns = ("figure", "quantity", *study.groups, "published")
    report.table("Workloads: means over lists, %", columns, [[row[name] for name in columns] for row in rows])
    return {"size": study.wanted.size, "averages": rows, "workloads": by_workload(counted),
            "groups": {name: list(members) for name, members in study.groups.items()}}
