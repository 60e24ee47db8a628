"""Places in a page: statistics of runs, and the commands that repeat them."""

import shlex
from collections.abc import Sequence
from urllib.parse import quote

from warploom.evaluation.experiments import ALL, EXPERIMENTS
from warploom.pages.document import Document


def run_link(slug: str, workload: str, settings: Sequence[str]) -> str:
    """The fragment of the address that shows some runs; `page.js` reads it."""
    return "#run=" + "/".join(quote(part, safe="") for part in (slug, workload, "|".join(settings)))


def experiment_command(document: Document) -> str:
    """The command that makes a document, with the usual programs."""
    words = ["warploom", "evaluate", document.experiment]
    if document.options:
        words += document.options
    elif document.preset:  # an earlier document
        words += ["--gpu" if document.of_gpu else "--preset", document.preset]
    if document.size:
        words += ["--size", document.size]
    if document.blocks:
        words += ["--blocks", str(document.blocks)]
    elif document.size != "tiny" and document.experiment in EXPERIMENTS and EXPERIMENTS[document.experiment].blocks:
        words += ["--blocks", ALL]
    return shlex.join([*words, "--json", f"{document.experiment}.json"])


def run_commands(document: Document) -> dict[str, str]:
    """The command that repeats a run of each setting; ``KERNEL`` stands for its name."""
    size = ["--size", document.size] if document.size else []
    return {setting: shlex.join(["warploom", "run", "KERNEL", *size, *options])
            for setting, options in document.settings.items()}
