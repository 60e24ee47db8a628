"""The model's records have the fields of the datapath's ports."""

from collections.abc import Callable
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import (
    Fields,
    attempt_fields,
    dispatch_fields,
    issue_fields,
    result_fields,
    stored_fields,
    trivial_fields,
)
from warploom.golden_model.records import SOURCES, AttemptFields, DispatchFields, IssueFields, Result, StoredFields

SMALL = SmConfig.preset("small")

EVERYTHING = [SMALL.with_settings(settings) for settings in (
    ["affine=abm", "gating=cross_lane"],
    ["affine=abm", "bypass=bow_hints", "coalescing=on", "gating=cross_lane"],
    ["renaming=mem_ra", "coalescing=on", "gating=cross_lane"],
)]
"""Together these have every field: windows and renaming exclude each other."""


def names(table: Callable[[SmConfig], Fields]) -> set[str]:
    """The names of the fields of a port in any of these configurations."""
    return {name for config in EVERYTHING for name, _ in table(config)}


def required(table: Callable[[SmConfig], Fields]) -> set[str]:
    """Those that all configurations have."""
    return {name for name, _ in table(SMALL)}


def keys(record: Any) -> set[str]:
    """The names of the fields of a record."""
    return {*record.__required_keys__, *record.__optional_keys__}


def test_an_issue_has_the_fields_of_its_port() -> None:
    only_in_model = {"unit", "compact", "releases", "given"}
    assert keys(IssueFields) == names(issue_fields) | only_in_model
    assert IssueFields.__required_keys__ == required(issue_fields)
    assert keys(AttemptFields) == names(attempt_fields) | keys(IssueFields)
    assert set(SOURCES) <= required(issue_fields)


def test_a_dispatch_has_the_fields_of_its_port_and_those_of_the_issue() -> None:
    assert keys(DispatchFields) == names(dispatch_fields) | names(trivial_fields) | keys(IssueFields) | {"operands"}
    assert required(dispatch_fields) <= DispatchFields.__required_keys__


def test_a_result_has_the_fields_of_its_port() -> None:
    assert keys(Result) == names(result_fields) | {"data"}
    assert required(result_fields) <= Result.__required_keys__


def test_metadata_have_their_names_and_the_side() -> None:
    assert keys(StoredFields) == names(stored_fields) | {"left"}
