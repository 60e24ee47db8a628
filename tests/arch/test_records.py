"""The model's records have the fields of the datapath's ports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fields import Fields
from warploom.arch.interfaces import (
    DELIVERY_FIELDS,
    attempt_fields,
    coming_fields,
    dispatch_fields,
    issue_fields,
    read_fields,
    result_fields,
    stored_fields,
    trivial_fields,
)
from warploom.golden_model.bypass.entries import Coming, Delivery
from warploom.golden_model.records import SOURCES, AttemptFields, DispatchFields, IssueFields, Result, StoredFields
from warploom.golden_model.register_file.ports import Read

SMALL = SmConfig.preset("small")

EVERYTHING = [SMALL.with_settings(settings) for settings in (
    ["affine=abm", "gating=cross_lane"],
    ["affine=abm", "bypass=bow_hints", "coalescing=on", "gating=cross_lane"],
    ["renaming=mem_ra", "coalescing=on", "gating=cross_lane"],
)]
"""Together these have every field: windows and renaming exclude each other."""


@dataclass(frozen=True)
class Port:
    """A port whose record in the model is no dict: the record's fields by those of the hardware (None if it has no such
    field), and further fields of the record."""

    record: type[NamedTuple]
    table: Callable[[SmConfig], Fields]
    fields: Mapping[str, str | None]
    further: tuple[str, ...] = ()


PORTS = [
    # The hardware works out row and sub-banks, the model the bank's port. Which reads release their row is in the
    # instruction (`releases`), and `key` tells the client which of its reads is granted; hardware has a wire for each.
    Port(Read, read_fields, {"row": "address", "mask": "metadata", "columns": "columns", "release": None}, ("key",)),
    # What is not valid is not there in the model. Its store looks the entry up, so it has more than the hint.
    Port(Coming, coming_fields, {"valid": None, "register": "register", "to_collector": "deliver"}),
    Port(Delivery, lambda config: DELIVERY_FIELDS, {"valid": None, "register": "register", "lanes": "lanes",
                                                    "full": "full", "transient": "transient", "data": "data"}),
]


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
    only_in_model = {"unit", "values", "releases", "given"}
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


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.record.__name__)
def test_other_ports_have_the_fields_of_the_hardware_or_a_reason(port: Port) -> None:
    assert set(port.fields) == names(port.table)
    ours = [name for name in port.fields.values() if name is not None]
    assert sorted([*ours, *port.further]) == sorted(port.record._fields)
