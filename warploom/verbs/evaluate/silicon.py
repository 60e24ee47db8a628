"""``warploom evaluate silicon``: the model beside what a GPU did with the bundled programs."""

from dataclasses import asdict, astuple

from warploom import report
from warploom.arch.gpu import GpuConfig
from warploom.evaluation.characterisation.executed import EXECUTED
from warploom.evaluation.silicon import experiment as silicon
from warploom.evaluation.silicon import latency
from warploom.evaluation.simulations import cases
from warploom.evaluation.study import Study
from warploom.verbs import Body


def show(study: Study) -> Body:
    """Every program on the GPU of the model, in each recorded size up to the wanted one, and its latencies."""
    assert isinstance(study.machine, GpuConfig)
    machines, pairs = study.configurations(), []
    for size in silicon.sizes(study.wanted.size):
        runs = study.runs(cases(study.names, size, machines))
        counts = study.by_workload(EXECUTED, "counting", size)
        pairs += [silicon.pair(name, size, run, counts[name]) for name in study.names for run in runs[name].values()]
    latencies = latency.latencies(study.machine)
    agreements = silicon.agreements(pairs)
    chip = silicon.record()["gpu"]
    report.table(f"{study.preset} beside {chip}", silicon.COLUMNS, map(astuple, pairs))
    report.table(f"How the model follows {chip}", silicon.SUMMARIES, map(astuple, agreements))
    report.table("Cycles from an instruction to the next one, which needs its result", latency.COLUMNS,
                 map(astuple, latencies))
    return {"chip": chip, "programs": [asdict(pair) for pair in pairs],
            "agreements": [asdict(agreement) for agreement in agreements],
            "latencies": [asdict(each) for each in latencies]}
