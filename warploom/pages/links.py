"""Places in a page: statistics of runs, and the commands that repeat them."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from warploom.arch.config import SmConfig, presets
from warploom.arch.gpu import GpuConfig, gpu_presets
from warploom.arch.pipes import PIPES, TIMING
from warploom.evaluation.experiments import ALL, EXPERIMENTS
from warploom.pages.document import Document


def run_link(slug: str, workload: str, settings: Sequence[str]) -> str:
    """The fragment of the address that shows some runs; `page.js` reads it."""
    return "#run=" + "/".join(quote(part, safe="") for part in (slug, workload, "|".join(settings)))


def experiment_command(document: Document) -> str:
    """The command that makes a document, with the usual programs."""
    words = ["warploom", "evaluate", document.experiment]
    if document.preset:
        words += ["--gpu" if document.of_gpu else "--preset", document.preset]
    if document.configuration and document.preset in (gpu_presets() if document.of_gpu else presets()):
        kind = GpuConfig if document.of_gpu else SmConfig
        known = _flat(asdict(kind.preset(document.preset)))
        words += [word for name, value in _flat(document.configuration).items() if known.get(name, value) != value
                  for word in ("--set", f"{name}={value}")]
    if document.size:
        words += ["--size", document.size]
    if document.blocks:
        words += ["--blocks", str(document.blocks)]
    elif document.size != "tiny" and document.experiment in EXPERIMENTS and EXPERIMENTS[document.experiment].blocks:
        words += ["--blocks", ALL]
    return shlex.join([*words, "--json", f"{document.experiment}.json"])


def _flat(configuration: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a configuration in a document, as settings."""
    found = _flat(configuration["sm"]) if "sm" in configuration else {}
    found |= {name: str(value) for name, value in configuration.items() if name not in (PIPES, "sm")}
    for pipe in configuration.get(PIPES, ()):
        found |= {f"{pipe['name']}.{name}": str(value) for name, value in pipe.items()
                  if name not in ("name", "classes")}
        found |= {f"{TIMING}.{name}": str(list(pair)) for name, pair in pipe.get("classes", {}).items()}
    return found


def run_commands(document: Document) -> dict[str, str]:
    """The command that repeats a run of each setting; ``KERNEL`` stands for its name."""
    size = ["--size", document.size] if document.size else []
    return {setting: shlex.join(["warploom", "run", "KERNEL", *size, *options])
            for setting, options in document.settings.items()}
