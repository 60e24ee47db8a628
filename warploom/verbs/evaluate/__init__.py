"""``warploom evaluate``: the experiments of the sources, measured here, beside their published figures.

Experiments name the functions that show them (`warploom.evaluation.experiments`); these are in the modules here.
"""

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from warploom import report
from warploom.arch.errors import ConfigError, WarploomError, one_line
from warploom.evaluation import repeating
from warploom.evaluation.experiments import ALL, BLOCKS, EXPERIMENTS, WORKLOADS
from warploom.evaluation.recorded import Simulations
from warploom.evaluation.recorded import write as write_record
from warploom.evaluation.study import Failure, Study, Wanted
from warploom.verbs import Body, consistent

FOLDER = Path("build") / "evaluation"


def main(options: argparse.Namespace) -> Body:
    """Run one experiment; or several, as one matrix of workloads and configurations."""
    names, simulations = _names(options), Simulations(options.source)
    for option, path in (("--record", options.record), ("--from", options.source)):
        if path is not None and not any(EXPERIMENTS[name].configurations for name in names):
            raise ConfigError(f"evaluate {' '.join(names)}: {option} must be left out: nothing is simulated")
    body = _several(names, options, simulations) if len(names) > 1 else _one(names[0], options, simulations)
    if options.record is not None:
        write_record(options.record, simulations.recorded)
    return body


def _one(name: str, options: argparse.Namespace, simulations: Simulations) -> Body:
    """Run one experiment."""
    size = _size(name, options)
    return _body(Study(name, Wanted(size, options.out or FOLDER / size, options.preset, options.gpu,
                                    consistent(options.settings), options.workloads, options.blocks, options.scheduler,
                                    simulations, bool(options.size or options.quick))))


def _size(name: str, options: argparse.Namespace) -> str:
    """The size of an experiment's inputs."""
    return "tiny" if options.quick else options.size or EXPERIMENTS[name].size


def _names(options: argparse.Namespace) -> list[str]:
    """The experiments that a user wants."""
    if ALL not in options.experiment:
        return list(dict.fromkeys(options.experiment))
    return [name for name, one in EXPERIMENTS.items() if not (one.unless and getattr(options, one.unless))]


def _several(names: Sequence[str], options: argparse.Namespace, simulations: Simulations) -> Body:
    """Simulate what the experiments need, each case once, workload by workload; then each experiment, which writes
    ``<folder>/EXPERIMENT.json``; then the page of all of them. One that fails does not stop the others."""
    from warploom.pages.report import write  # noqa: PLC0415  (its library takes long to import)

    if options.preset is not None or options.gpu is not None or options.settings:
        raise ConfigError("evaluate: experiments have machines of their own: leave --preset, --gpu and --set out, or "
                          "name one experiment")
    folder: Path = options.out or FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    asked = {name: _asked(name, options, folder, simulations) for name in names}
    needed = [case for name, one in asked.items() for case in Study(name, one).cases()]
    simulations.of(sorted(needed, key=lambda case: case.workload), options.scheduler)
    made = {name: _document(name, one, folder / f"{name}.json") for name, one in asked.items()}
    write([document for _, document in made.values() if document], page := folder / "report.html")
    documents = {name: found for name, (found, _) in made.items()}
    report.table("Experiments", ("experiment", "document", "failure"),
                 [(name, *found.values()) for name, found in documents.items()])
    report.fields("All of them", {"page": page})
    failures = [f"{name}: {found['failure']}" for name, found in documents.items() if found["failure"]]
    return {"documents": documents, "page": str(page), "failure": next(iter(failures), None)}


def _asked(name: str, options: argparse.Namespace, folder: Path, simulations: Simulations) -> Wanted:
    """What is wanted of one of several experiments: those with workloads of their own run these, whole if they time
    none."""
    refused, size = EXPERIMENTS[name].refuses, _size(name, options)
    return Wanted(size, folder / size, workloads=() if WORKLOADS in refused else options.workloads,
                  blocks=None if BLOCKS in refused else options.blocks, scheduler=options.scheduler,
                  simulations=simulations)


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
    on = {"configuration": dataclasses.asdict(study.machine), "options": repeating.options(study.machine, study.preset),
          "blocks": study.blocks} if study.preset else {}
    found = study.show()
    simulated = {"simulated": sorted(study.commits, key=str)} if study.commits else {}
    return {"experiment": study.name, **on, **found, **simulated, **_failures(study.failed)}


def _failures(failed: Sequence[Failure]) -> Body:
    """What failed, which the figures are without."""
    if not failed:
        return {}
    first = ", ".join(filter(None, failed[0][:2]))
    report.table("Failed: without these workloads, above", Failure._fields, failed)
    return {"failed": [one._asdict() for one in failed],
            "failure": f"{len(failed)} of the workloads' runs failed, the first one {first}: {failed[0].error}"}
