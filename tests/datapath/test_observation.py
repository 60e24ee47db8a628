"""Observed values are collected by name, and a bench rejects hardware and model with different names."""

from collections.abc import Callable
from typing import Any

import pytest
from amaranth import Signal

from warploom.golden_model.observation import Gathered, shown_by
from warploom.rtl.observation import gather, probe_port
from warploom.tb.codec import Codec
from warploom.tb.difference import Difference, port_equal
from warploom.tb.observation import Probe

PORT = Codec({"name": "probe", "width": 4, "fields": [{"name": "b", "offset": 0, "width": 3},
                                                      {"name": "a", "offset": 3, "width": 1}]})


class Model:
    """A part of the golden model that shows a constant."""

    observed = ("value",)

    def observe(self) -> tuple[int]:
        return (3,)


class Hardware:
    """A part of the hardware that shows a signal."""

    def __init__(self) -> None:
        self.value = Signal(5)

    def observe(self) -> dict[str, Signal]:
        return {"value": self.value}


def test_both_sides_gather_the_same_names() -> None:
    found = Gathered(Model(), None, unit=Model(), units=[Model(), object()])
    assert shown_by(found) == {"value": 3, "unit_value": 3, "units0_value": 3}
    shown = gather(Hardware(), None, unit=Hardware(), units=[Hardware(), object()])
    assert tuple(shown) == found.observed
    assert {name: field.width for name, field in probe_port(shown)["probe"].shape} == dict.fromkeys(shown, 5)
    assert not probe_port({}), "nothing to show takes no port"


@pytest.mark.parametrize(("collect", "part"), [(Gathered, Model), (gather, Hardware)])
def test_a_name_is_shown_once(collect: Callable[..., Any], part: type) -> None:
    with pytest.raises(ValueError, match="two parts show"):
        collect(part(), part())


def test_sides_are_matched_by_name() -> None:
    probe = Probe(PORT, ("a", "b"))
    assert probe.pack([1, 5]) == 0b1101
    port_equal(7, PORT, 0b1101, 0b1101, -1)
    with pytest.raises(Difference, match="cycle 7, b: expected 0x5, actual 0x4"):
        port_equal(7, PORT, 0b1101, 0b1100, -1)
    port_equal(7, PORT, 0b1101, 0b1100, 0b1110)


@pytest.mark.parametrize(("names", "message"), [
    (("a", "b", "c", "d"), "only the golden model shows c, d"), (("b",), "only the hardware shows a"),
])
def test_a_name_on_one_side_alone_is_refused(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        Probe(PORT, names)


@pytest.mark.parametrize(("values", "message"), [
    ([2, 5], "a = 2 does not fit 1 bits"), ([0, -1], "b = -1 does not fit 3 bits"), ([1], "1 values for 2 names"),
])
def test_values_must_fit(values: list[int], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        Probe(PORT, ("a", "b")).pack(values)
