"""``warploom evaluate haws``: hints for order on GPUs."""

from warploom import report
from warploom.evaluation.haws import experiment as haws
from warploom.evaluation.haws.code import CODE
from warploom.evaluation.study import Study
from warploom.verbs import Body
from warploom.verbs.evaluate.figures import recorded, shown


def show(study: Study) -> Body:
    """Every program of Tables 5.1 and 5.3 without and with hints, the figures, and what explains them."""
    runs, code = study.runs(study.cases()), study.by_workload(CODE, "compiling")
    machines = f"{study.preset} ({', '.join(haws.SCALE)}), {haws.KEPLER} ({', '.join(haws.KEPLER_SCALE)})"
    body = shown(study, haws.measured(runs, code, study.groups, study.config), machines)
    circumstances = report.records(f"Gain of hints on {study.preset}, and what it depends on", haws.CIRCUMSTANCES,
                                   haws.circumstances(runs, study.groups))
    return {**body, **recorded(study, runs), "circumstances": circumstances}
