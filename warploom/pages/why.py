"""Why our figures differ from the published ones, in words (`why.toml`)."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Why:
    """A reason, and the page that has the measurements behind it."""

    text: str
    page: str


@cache
def reasons() -> dict[str, Why]:
    """By figure of `published.toml`."""
    found = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["why"]
    return {figure: Why(entry["text"], entry["page"]) for entry in found for figure in entry["figures"]}


def why(figure: str) -> Why | None:
    """The reason for a figure, if one is known."""
    return reasons().get(figure)
