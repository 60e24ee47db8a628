"""``warploom evaluate silicon``: the model beside what a GPU did with the bundled programs."""

from dataclasses import asdict, astuple

from warploom import report
from warploom.evaluation import silicon
from warploom.evaluation.simulations import cases
from warploom.evaluation.study import Study
from warploom.verbs import Body


def show(study: Study) -> Body:
    """Every program on the GPU of the model, in each recorded size up to the wanted one."""
    machines, pairs = study.configurations(), []
    for size in silicon.sizes(study.wanted.size):
        runs = study.runs(cases(study.names, size, machines))
        pairs += [silicon.pair(name, size, run) for name, of in runs.items() for run in of.values()]
    agreements = silicon.agreements(pairs)
    chip = silicon.record()["gpu"]
    report.table(f"{study.preset} beside {chip}", silicon.COLUMNS, map(astuple, pairs))
    report.table(f"How the model follows {chip}", silicon.SUMMARIES, map(astuple, agreements))
    return {"chip": chip, "programs": [asdict(pair) for pair in pairs],
            "agreements": [asdict(agreement) for agreement in agreements]}
