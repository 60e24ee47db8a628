"""``warploom evaluate characterisation``: what programs execute, and what compilation makes of their PTX."""

from warploom import report
from warploom.evaluation.characterisation import experiment as characterisation
from warploom.evaluation.characterisation.executed import EXECUTED
from warploom.evaluation.characterisation.sass import ARCHITECTURE, ASSEMBLER
from warploom.evaluation.haws.experiment import KEPLER_SCALE
from warploom.evaluation.study import Study
from warploom.verbs import Body
from warploom.verbs.evaluate.figures import recorded, shown


def show(study: Study) -> Body:
    """Every program of Table 4.2: its figures, and the instructions of its code."""
    runs, counts = study.runs(study.cases()), study.by_workload(EXECUTED, "counting")
    body = shown(study, characterisation.measured(runs, counts, study.groups),
                 f"{study.preset} ({', '.join(KEPLER_SCALE)})")
    rows = [characterisation.code(workload) for workload in study.names]
    code = report.records(f"Instructions in the code, and reconvergence points (SASS for {ARCHITECTURE})",
                          characterisation.CODE, rows)
    if any(None in row for row in rows):
        report.fields("What is missing", {"SASS": f"{ASSEMBLER} of a CUDA toolkit is not on PATH"})
    return {**body, **recorded(study, runs), "code": code}
