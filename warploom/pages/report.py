"""The report: documents of ``warploom evaluate --json`` as one page that works from a file (docs/report.md)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from warploom.evaluation.experiments import EXPERIMENTS
from warploom.evaluation.published import Published
from warploom.pages import charts, costs, listed, panels, rendering
from warploom.pages.document import SWEEP, Document, DocumentError, checked
from warploom.pages.links import experiment_command, run_commands
from warploom.pages.panels import AVERAGE, Panel


@dataclass(frozen=True)
class Part:
    """One experiment on the page: `slug` is its name there."""

    slug: str
    title: str
    document: Document
    panels: Sequence[Panel]
    details: Sequence[Panel]

    @property
    def command(self) -> str | None:
        """The command that makes the document; None for a sweep, whose ranges it does not name."""
        return None if self.document.verb == SWEEP else experiment_command(self.document)

    @property
    def groups(self) -> Mapping[str, Sequence[str]]:
        """The workloads of each average; all of them where a document has no groups, or one without a name."""
        workloads, groups = self.document.workloads, self.document.groups
        return groups if groups.keys() - {AVERAGE} else {"programs": workloads} if workloads else {}

    @property
    def commit(self) -> str:
        """The commit, shortened; ``+`` says that files differ from it."""
        commit = self.document.commit
        return f"{commit[:12]}{'+' * commit.endswith('+')}" if commit else "no commit"


def write(documents: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the report of documents as `report.document` makes them. Raises `DocumentError` and `OSError`."""
    write_checked([checked(document, str(document.get("experiment", f"document {number}")))
                   for number, document in enumerate(documents, start=1)], path)


def write_checked(documents: Sequence[Document], path: Path) -> None:
    """Write the report of documents. Raises `DocumentError` and `OSError`."""
    parts = [_part(slug, document) for slug, document in zip(_slugs(documents), documents, strict=True)]
    overview = _points(parts)
    data = {
        "charts": {panel.key: charts.chart(panel) for part in parts for panel in (*part.panels, *part.details)},
        "files": {panel.key: {"csv": panel.to_csv(), "json": panel.to_json()}
                  for part in parts for panel in (*part.panels, *part.details)},
        "runs": {part.slug: {"title": part.title, "commands": run_commands(part.document),
                             "runs": part.document.runs} for part in parts if part.document.runs},
    }
    if overview:
        data["charts"]["overview"] = charts.scatter(overview)
    rendering.write("report.html", path, parts=parts, overview=overview, data=rendering.packed_json(data),
                    plotly=rendering.packed(get_plotlyjs()), counts=_counts(parts))


def _part(slug: str, document: Document) -> Part:
    """A document's part of the page. Raises `DocumentError` for a table without what is drawn of it."""
    try:
        return _drawn(slug, document)
    except (LookupError, TypeError, ValueError) as error:
        raise DocumentError(f"{slug}: a table is not as docs/json.md describes it: {error!r}") from None


def _drawn(slug: str, document: Document) -> Part:
    title = _title(document)
    if slug != document.experiment:
        title += f", {slug.removeprefix(f'{document.experiment}-')}"
    details = [*costs.of_energy(document, slug), *costs.of_sensitivity(document, slug),
               *panels.of_pressure(document, slug), *panels.of_stalls(document, slug),
               *panels.of_widths(document, slug)]
    shown = [*(panels.of_figure(document, slug, figure) for figure in document.figures),
             *panels.of_calibration(document, slug), *costs.of_hardware(document, slug),
             *costs.of_overheads(document, slug),
             *panels.of_workloads(document, slug), *panels.of_combinations(document, slug),
             *panels.of_samples(document, slug), *panels.of_sweep(document, slug),
             *listed.of_engine(document, slug), *listed.of_engine_costs(document, slug),
             *listed.of_tfet_rows(document, slug), *listed.of_power(document, slug),
             *listed.of_silicon(document, slug), *listed.of_code(document, slug)]
    return Part(slug, title, document, shown, details)


def _title(document: Document) -> str:
    """The heading of a document's part."""
    if document.verb == SWEEP:
        return "A sweep"
    known = EXPERIMENTS.get(document.experiment)  # none if another version made the document
    return known.title if known else document.experiment.replace("_", " ").capitalize()


def _slugs(documents: Sequence[Document]) -> Iterator[str]:
    """A name for each document: its experiment's; the preset tells documents of one experiment apart, then the size,
    then a number."""
    experiments = Counter(document.experiment for document in documents)
    sizes: dict[tuple[str, str | None], set[str | None]] = {}
    for document in documents:
        sizes.setdefault((document.experiment, document.preset), set()).add(document.size)
    seen: Counter[str] = Counter()
    for document in documents:
        name = document.experiment
        if experiments[document.experiment] > 1 and document.preset:
            name += f"-{document.preset}"
        if len(sizes[document.experiment, document.preset]) > 1:
            name += f"-{document.size}"
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}"


def _points(parts: Sequence[Part]) -> list[tuple[str, str, float, float]]:
    """Every published average that is one number, beside ours."""
    return [(part.title, f"{panel.title}: {one.bar}", Published.of(one.published).value, one.ours)
            for part in parts for panel in part.panels for one in panel.compared
            if Published.of(one.published).most is None]


def _counts(parts: Sequence[Part]) -> dict[str, int]:
    """How much there is."""
    return {
        "experiments": len(parts),
        "figures": sum(len(part.panels) for part in parts),
        "programs": len({name for part in parts for name in part.document.workloads}),
        "simulated runs": sum(len(of_kernel) for part in parts for of_kernel in part.document.runs.values()),
    }
