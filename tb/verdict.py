"""The results of the tests of a bench: which ran, and the exceptions of those that failed."""

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, parse

MISMATCH = "HardwareMismatch"
"""The exceptions of a bench that has found a difference between hardware and model, or a violated property."""


def raised(results: Path) -> dict[str, str]:
    """For each test that ran, by name, the type of its exception, "" if it passed; empty if the simulator did not write
    its results."""
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
    """Whether a bench has found wrong hardware, without any other error."""
    return MISMATCH in found.values() and set(found.values()) <= {"", MISMATCH}
