"""``warploom evaluate tfet``, ``tfet_sms`` and ``tfet_bounds``: a register file of CMOS and TFET rows."""

from warploom import report
from warploom.arch.gpu import GpuConfig
from warploom.evaluation.energy import sensitivity
from warploom.evaluation.simulations import cases
from warploom.evaluation.study import Study
from warploom.evaluation.tfet import bounds, sms
from warploom.evaluation.tfet import experiment as tfet
from warploom.verbs import Body
from warploom.verbs.evaluate.figures import recorded, shown


def show(study: Study) -> Body:
    """Every program of Table 2 on all machines, the figures, what explains them, and what assumptions carry."""
    runs = study.runs(study.cases())
    found = tfet.with_ideal(runs)
    body = shown(study, tfet.measured(found, study.groups), f"{study.preset} ({', '.join(tfet.SCALE)})")
    circumstances = report.records("Programs, and what the renaming stage did", tfet.CIRCUMSTANCES,
                                   tfet.circumstances(found))
    return {**body, **recorded(study, runs), "sensitivity": sensitivity.rows(tfet.headlines(), found),
            "circumstances": circumstances}


def show_by_sm(study: Study) -> Body:
    """The memory-intensive programs on several SMs."""
    found = study.by_case(sms.WORK, "counting by SM")
    rows = [of_sms.row(case.workload, case.setting) for case, of_sms in found.items()]
    title = f"TFET rows by SM: {study.preset} ({', '.join(sms.SCALE)})"
    return {"size": study.wanted.size, "groups": study.groups, "by_sm": report.records(title, sms.COLUMNS, rows)}


def show_bounds(study: Study) -> Body:
    """How well stalls are predicted, and what is saved at most."""
    known = study.by_case(bounds.WORK, "predicting")
    found = {case.workload: one for case, one in known.items()}
    gpu = study.machine
    assert isinstance(gpu, GpuConfig), "an experiment on a GPU"
    machines = tfet.configurations(gpu, study.wanted.settings)
    runs = study.runs(cases(found, study.wanted.size, {name: machines[name] for name in (tfet.BASELINE, tfet.MEM_RA)},
                            study.blocks))
    body: Body = {"size": study.wanted.size, "groups": study.groups}
    for key, title, columns, row in (
            ("predictions", "Predicted stalls, and a perfect predictor", bounds.PREDICTED, bounds.predicted),
            ("bounds", "What could be saved, of all energy", bounds.BOUNDS, bounds.bounds)):
        body[key] = report.records(title, columns, [row(name, of_kernel, found[name])
                                                    for name, of_kernel in runs.items()])
    return body
