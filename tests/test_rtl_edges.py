"""The parts of a datapath are joined at signatures, by `connect`."""

from typing import Any

import pytest
from amaranth.hdl import Fragment
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl import datapath

PARTS = ("operands", "register_file", "pipes", "affine_sets")

EDGES = {
    "slots": {
        "operands": {"issue", "compact", "lookup", "read", "dispatch"},
        "register_file": {"lookup", "read", "result_sp", "result_sfu", "memory", "done_sp", "done_sfu"},
        "pipes": {"dispatch", "outside", "outside_result", "result"},
        "affine_sets": {"attempt_0", "outcome_0", "uniform_0", "uniform_result_0", "compact"},
    },
    "windows": {
        "operands": {"issue", "lookup", "read", "delivery", "memory", "latch", "dispatch"},
        "register_file": {"lookup", "read", "result_sp", "result_sfu", "memory", "done_sp", "done_sfu", "delivery"},
        "pipes": {"dispatch", "outside", "outside_result", "result"},
    },
}
"""Of two configurations, the members of each part that are signatures."""

SETTINGS = {
    "slots": ["coalescing=on", "gating=cross_lane", "affine=abm", "schedulers=1"],
    "windows": ["bypass=bow_wr", "coalescing=on"],
}

BY_HAND = {"slots": {("operands", "issue")}, "windows": set()}
"""With the affine unit the operand store sees an instruction without its compact slots, so its issue port is wired."""


def identity(end: Any) -> int:
    """The same for an interface and its flipped self."""
    return id(wiring.flipped(end) if isinstance(end, wiring.FlippedInterface) else end)


def is_joined(end: Any, joined: set[int]) -> bool:
    """Whether an interface is connected, as one or in all of its own interfaces."""
    inner = [getattr(end, name) for name, member in end.signature.members.items() if member.is_signature]
    return identity(end) in joined or (bool(inner) and all(is_joined(each, joined) for each in inner))


@pytest.mark.parametrize("name", EDGES)
def test_every_edge_is_a_signature_that_is_connected(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    joined: set[int] = set()

    def connect(m: Any, *ends: Any) -> None:
        joined.update(map(identity, ends))
        wiring.connect(m, *ends)

    monkeypatch.setattr(datapath, "connect", connect)
    made = datapath.Datapath(config=SmConfig.preset("small").with_settings(SETTINGS[name]))
    Fragment.get(made, platform=None)
    found: dict[str, set[str]] = {}
    for part in PARTS:
        unit: Any = getattr(made, part)
        for edge, member in unit.signature.members.items() if unit is not None else ():
            if member.is_signature:
                found.setdefault(part, set()).add(edge)
                ends = getattr(unit, edge)
                for end in ends if isinstance(ends, list) else [ends]:
                    assert is_joined(end, joined) or (part, edge) in BY_HAND[name], (part, edge)
    assert found == EDGES[name]
