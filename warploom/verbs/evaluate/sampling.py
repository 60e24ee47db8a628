"""``warploom evaluate sampling``: the errors of samples of blocks, on all workloads unless some are named."""

from dataclasses import asdict, astuple

from warploom import report
from warploom.evaluation import sampling
from warploom.evaluation.study import Study
from warploom.verbs import Body


def show(study: Study) -> Body:
    """Every workload whole and by samples."""
    size = study.wanted.size
    blocks = study.by_workload(sampling.BLOCKS, "executing")
    errors = sampling.errors(study.runs(sampling.cases(blocks, size, study.config)), blocks)
    summaries = sampling.summaries(errors)
    report.table(f"{study.config.name}: errors of samples, % ({size} size)", sampling.COLUMNS, map(astuple, errors))
    report.table("Absolute errors over workloads, %", sampling.SUMMARIES, map(astuple, summaries))
    return {"size": size, "samples": [asdict(error) for error in errors],
            "summaries": [asdict(summary) for summary in summaries]}
