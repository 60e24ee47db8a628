"""Numbers in sentences of the pages follow from the committed results.

Each module of `claims` is of one page: its `claims()` yields pieces of sentences as the page has them, but with `{}` in
place of numbers that follow from results, and the values of these numbers, in order. A piece that states a ratio in
words has one `Within` instead. After a change of results this test says which sentences are stale, and what they should
say.
"""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from claims import Claim, Within

ROOT = Path(__file__).resolve().parents[2]
MODULES = [path.stem for path in sorted(Path(__file__).with_name("claims").glob("[!_]*.py"))]

BEGIN, END = r"(?<![\d.,-])", r"(?!\d|[.,]\d)"
"""A text begins and ends outside numbers."""

NUMBER = rf"{BEGIN}(-?\d+(?:,\d{{3}})*(?:\.\d+)?){END}"
TIE = 1e-6


def prose(page: str) -> str:
    """The text of a page, with single spaces."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").replace("\\\n", "").split())


def places(text: str, page: str) -> list[re.Match[str]]:
    """Where a page has a text, with its numbers as groups."""
    pattern = NUMBER.join(map(re.escape, text.split("{}")))
    return list(re.finditer(f"{BEGIN}{pattern}{END}", page))


def shows(number: str, value: float) -> bool:
    """Whether a number is a value, rounded to the digits of the number."""
    digits = number.replace(",", "")
    decimals = len(digits.partition(".")[2])
    return abs(float(digits) - value) <= 0.5 * 10 ** -decimals + TIE


def faults(page: str, claim: Claim) -> Iterator[str]:
    """What is wrong with a claim about a page that has this text."""
    text, *values = claim
    found = places(text, page)
    if len(found) != 1:
        yield f"{text!r} is {len(found)} times on the page, not once"
    elif isinstance(values[0], Within):
        least, value, most = values[0]
        if not least < value < most:
            yield f"{text!r}: {value:.4g} is not between {least:g} and {most:g}"
    else:
        wrong = [f"{number} should be {value:.6g}" for number, value in zip(found[0].groups(), values, strict=True)
                 if not shows(number, value)]
        if wrong:
            yield f"{found[0][0]!r}: {', '.join(wrong)}"


@pytest.mark.parametrize("module", MODULES)
def test_numbers_of_sentences(module: str) -> None:
    found = import_module(f"claims.{module}")
    page, claims = prose(found.PAGE), list(found.claims())
    wrong = [fault for claim in claims for fault in faults(page, claim)]
    assert claims
    assert not wrong, "\n".join([f"{found.PAGE}, by tests/pages/claims/{module}.py:", *wrong])


@pytest.mark.parametrize(("claim", "fault"), [
    (("saves {} and {} points", 5.26, 1200.4), None),
    (("saves {} and", 5.36), "'saves 5.3 and': 5.3 should be 5.36"),
    (("and {} points, {}", 1201, -2.04), "'and 1,200 points, -2.0': 1,200 should be 1201"),
    (("saves {} points", 5.3), "'saves {} points' is 0 times on the page, not once"),
    (("{} points", 1200), "'{} points' is 2 times on the page, not once"),
    (("2.0 with", Within(0, 1, 2)), "'2.0 with' is 0 times on the page, not once"),
    (("with `r1`, a half", Within(0.45, 0.5, 0.55)), None),
    (("with `r1`, a half", Within(0.45, 0.6, 0.55)), "'with `r1`, a half': 0.6 is not between 0.45 and 0.55"),
])
def test_a_false_claim_is_found(claim: Claim, fault: str | None) -> None:
    page = "It saves 5.3 and 1,200 points, -2.0 with `r1`, a half of 8 points."
    assert list(faults(page, claim)) == ([] if fault is None else [fault])
