"""``warploom evaluate tfet``: a register file of CMOS and TFET rows."""

from warploom import report
from warploom.evaluation import sensitivity, tfet
from warploom.evaluation.study import Study
from warploom.verbs import Body
from warploom.verbs.evaluate_figures import recorded, shown


def show(study: Study) -> Body:
    """Every program of Table 2 on all machines, the figures, what explains them, and what assumptions carry."""
    runs = study.runs(study.cases())
    found = tfet.with_ideal(runs)
    body = shown(study, tfet.measured(found, study.groups), f"{study.preset} ({', '.join(tfet.SCALE)})")
    rows = tfet.circumstances(found)
    report.table("Programs, and what the renaming stage did", tfet.CIRCUMSTANCES, rows)
    carried = sensitivity.rows(tfet.headlines(), found)
    return {**body, **recorded(study, runs), "sensitivity": carried,
            "circumstances": [dict(zip(tfet.CIRCUMSTANCES, row, strict=True)) for row in rows]}
