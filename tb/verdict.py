"""What became of the tests of a bench: which ran, and what those that failed raised."""

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, parse

MISMATCH = "HardwareMismatch"
"""What a bench raises that has found the hardware different from its model, or a property violated."""


def raised(results: Path) -> dict[str, str]:
    """For each test that ran, by name, the type of what it raised, "" if it passed; nothing if the simulator did not
    get so far as to write its results."""
    try:
        cases = parse(results).iter("testcase")
    except (OSError, ParseError):
        return {}
    return {case.get("name", ""): _type(case) for case in cases if case.find("skipped") is None}


def _type(case: Element) -> str:
    for kind in ("failure", "error"):
        found = case.find(kind)
        if found is not None:
            return found.get("type", "an unknown error")
    return ""


def caught(found: dict[str, str]) -> bool:
    """Whether a bench has found its hardware wrong, and nothing else went wrong."""
    return MISMATCH in found.values() and set(found.values()) <= {"", MISMATCH}
