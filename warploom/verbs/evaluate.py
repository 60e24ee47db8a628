"""``warploom evaluate``: the experiments of the sources, measured here, beside their published figures."""

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from warploom import report
from warploom.arch.errors import ConfigError, WarploomError, one_line
from warploom.evaluation.experiments import ALL, BLOCKS, EXPERIMENTS, WORKLOADS
from warploom.evaluation.study import Failure, Study, Wanted, simulate
from warploom.verbs import Body

FOLDER = Path("build") / "evaluation"


def main(options: argparse.Namespace) -> Body:
    """Run one experiment; or several, as one matrix of workloads and configurations."""
    names = _names(options)
    size = "tiny" if options.quick else options.size
    wanted = Wanted(size, options.out or FOLDER / size, options.preset or "", options.settings, options.workloads,
                    options.blocks, options.scheduler)
    if len(names) > 1:
        return _several(names, wanted, options.out or FOLDER)
    (name,) = names
    return _body(Study(name, wanted))


def _names(options: argparse.Namespace) -> list[str]:
    """The experiments that a user wants."""
    if ALL not in options.experiment:
        return list(dict.fromkeys(options.experiment))
    return [name for name, one in EXPERIMENTS.items() if not (one.unless and getattr(options, one.unless))]


def _several(names: Sequence[str], wanted: Wanted, folder: Path) -> Body:
    """Simulate what the experiments need, each case once, workload by workload; then each experiment, which writes
    ``<folder>/EXPERIMENT.json``; then the page of all of them. One that fails does not stop the others."""
    from warploom.pages.report import write  # noqa: PLC0415  (its library takes long to import)

    if wanted.preset or wanted.settings:
        raise ConfigError("evaluate: experiments have presets of their own: leave --preset and --set out, or name one "
                          "experiment")
    folder.mkdir(parents=True, exist_ok=True)
    asked = {name: _asked(name, wanted, folder) for name in names}
    needed = [case for name, one in asked.items() for case in Study(name, one).cases()]
    known = simulate(sorted(needed, key=lambda case: case.workload), wanted.scheduler)
    made = {name: _document(name, dataclasses.replace(one, known=known), folder / f"{name}.json")
            for name, one in asked.items()}
    write([document for _, document in made.values() if document], page := folder / "report.html")
    documents = {name: found for name, (found, _) in made.items()}
    report.table("Experiments", ("experiment", "document", "failure"),
                 [(name, *found.values()) for name, found in documents.items()])
    report.fields("All of them", {"page": page})
    failures = [f"{name}: {found['failure']}" for name, found in documents.items() if found["failure"]]
    return {"documents": documents, "page": str(page), "failure": next(iter(failures), None)}


def _asked(name: str, wanted: Wanted, folder: Path) -> Wanted:
    """What is wanted of one of several experiments: those with workloads of their own run these, whole if they time
    none."""
    refused = EXPERIMENTS[name].refuses
    return dataclasses.replace(wanted, charts=folder / wanted.size,
                               workloads=() if WORKLOADS in refused else wanted.workloads,
                               blocks=None if BLOCKS in refused else wanted.blocks)


def _document(name: str, wanted: Wanted, path: Path) -> tuple[Body, Mapping[str, object]]:
    """Run one experiment and write its document: the path, and the failure in one line, if there is one; then the
    document, empty if there is none."""
    try:
        body = _body(Study(name, wanted))
    except WarploomError as error:
        return {"document": None, "failure": one_line(str(error))}, {}
    document = report.document("evaluate", body)
    report.write_json(path, document)
    return {"document": str(path), "failure": body.get("failure")}, document


def _body(study: Study) -> Body:
    """Run one experiment."""
    machine = {"configuration": dataclasses.asdict(study.config), "blocks": study.wanted.blocks} if study.preset else {}
    return {"experiment": study.name, **machine, **study.experiment.run(study), **_failures(study.failed)}


def _failures(failed: Sequence[Failure]) -> Body:
    """What failed, which the figures are without."""
    if not failed:
        return {}
    first = ", ".join(filter(None, failed[0][:2]))
    report.table("Failed: without these workloads, above", Failure._fields, failed)
    return {"failed": [one._asdict() for one in failed],
            "failure": f"{len(failed)} of the workloads' runs failed, the first one {first}: {failed[0].error}"}
