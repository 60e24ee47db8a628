"""``warploom evaluate fg_simt``: programs on the FG-SIMT engine."""

from warploom import report
from warploom.evaluation import fg_simt
from warploom.evaluation.study import Study
from warploom.fg_simt.programs import NAMES
from warploom.verbs import Body


def show(study: Study) -> Body:
    """Table 3 of [AFFINE], ours beside the published one."""
    found = study.by_workload(fg_simt.WORK, "simulating")
    rows = [found[bundled].row(name) for name, bundled in NAMES.items() if bundled in found]
    report.table("Table 3: ours (published)", fg_simt.COLUMNS, [fg_simt.texts(row) for row in rows])
    return {"size": study.wanted.size, "groups": study.groups, "table_3": rows}
