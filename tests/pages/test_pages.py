"""The pages: targets of links, and pages and headings named in code, exist; prose has at most 120 columns; generated
tables and diagrams are fresh."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from cogapp import Cog

from warploom.evaluation.published import published

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FOLDERS = ("golden_model", "rtl", "synth", "tb", "tests", "warploom")

LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)|^\[\w+\]: ([^#\s]+)#(\S+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$|^    [^\n]*$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"\bdocs/([\w/]+\.md)(?:,\s+\*([^*]+)\*)?")
COLUMNS = 120


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that a link may name: headings of the page, as GitHub spells them, and explicit ones."""
    text = page.read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {slug(heading) for heading in headings} | set(re.findall(r'<a id="([^"]+)">', text))


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    for match in LINK.finditer(CODE.sub("", page.read_text())):
        path, anchor = match[1] or match[3] or "", match[2] or match[4]
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), match[0]
        assert not anchor or anchor in anchors(target), match[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_columns(page: Path) -> None:
    """Tables and indented examples may be longer."""
    lines = [line for line in page.read_text().splitlines() if not line.startswith(("|", "    "))]
    assert [line for line in lines if len(line) > COLUMNS] == []


@pytest.mark.parametrize("page", [page for page in PAGES if "[[[cog" in page.read_text()], ids=lambda page: page.name)
def test_generated_tables_are_fresh(page: Path) -> None:
    prologue = re.search(r"^PAGES := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert prologue is not None
    assert Cog().main(["cog", "--check", "-p", prologue[1], str(page)]) == 0, "make docs writes it anew"


def test_results_stand_beside_what_sources_print() -> None:
    """A value of `published.toml` that is changed differs from the committed results; nearly all are in them."""
    known, found = published(), set()
    for path in sorted((ROOT / "docs" / "results").glob("*.json")):
        for figure in json.loads(path.read_text()).get("figures", []):
            for series, ours in figure["series"].items():
                number, value = figure["figure"], known.get(figure["figure"], {}).get(series)
                assert ours["published"] == (None if value is None else str(value)), (path.name, number, series)
                found |= set() if value is None else {(number, series)}
    printed = {(number, series) for number, averages in known.items() for series in averages}
    assert {number for number, _ in printed - found} == {"Affine, Table 1"}


@pytest.mark.parametrize("source", sorted((ROOT / "docs" / "contract").glob("*.json")), ids=lambda source: source.stem)
def test_timing_diagrams_are_drawn_from_their_sources(source: Path, tmp_path: Path) -> None:
    import wavedrom

    drawn = tmp_path / "drawn.svg"
    wavedrom.render(source.read_text()).saveas(drawn)
    assert drawn.read_text() == source.with_suffix(".svg").read_text(), "make -C docs/contract draws it anew"


def mentions() -> Iterator[tuple[Path, str, str | None]]:
    """Every page that code names: where, the page, and its heading."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for match in NAMED.finditer(path.read_text()):
                yield path, match[1], match[2]


def test_pages_that_code_names() -> None:
    found = list(mentions())
    assert len(found) > 50
    for path, page, heading in found:
        target = ROOT / "docs" / page
        assert target.exists(), f"{path}: docs/{page}"
        assert heading is None or slug(heading) in anchors(target), f"{path}: docs/{page}, {heading}"
