"""The parts of a datapath are joined at signatures, by `connect`."""

import importlib
import inspect
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest
from amaranth.hdl import Fragment
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl.datapath import Datapath

JOINTS = ("datapath", "pipes", "operands.store", "operands.slots", "operands.windows", "operands.stage",
          "register_file.register_file", "register_file.writeback", "register_file.metadata", "bypass.collector",
          "affine.joint", "renaming.joint")
"""Modules that join parts."""

ON_RESULTS = {"result_sp", "result_sfu", "done_sp", "done_sfu"}
COLLECTOR = {"instruction", "read", "offer"}

SLOTS = {
    "operands": {"issue", "compact", "lookup", "read", "dispatch"},
    "operands.collectors": {"instruction", "read", "offer", "address"},
    "operands.collectors.collectors.0": COLLECTOR,
    "operands.collectors.address_slots.0": {"instruction", "offer"},
    "operands.stages.0": {"offer", "address", "dispatch"},
    "register_file": {"lookup", "read", "memory", *ON_RESULTS},
    "register_file.banks": {"write", "read"},
    "register_file.writeback": {"result_mem", "done_mem", "write", "renewal", "latches", *ON_RESULTS},
    "register_file.metadata_table": {"lookup", "renewal"},
    "pipes": {"dispatch", "outside", "outside_sp", "result_sp"},
    "affine_sets": {"attempt_0", "outcome_0", "uniform_0", "uniform_result_0", "compact", "issue", "generic"},
}

WINDOWS = {
    "operands": {"issue", "lookup", "read", "delivery", "memory", "latch", "dispatch"},
    "operands.collectors": {"instruction", "read", "offer", "delivery", "memory", "latch"},
    "operands.collectors.collectors.0": {*COLLECTOR, "forward", "eviction"},
    "operands.collectors.collectors.0.fetcher": {"read"},
    "operands.collectors.eviction_unit": {"result_mem", "result"},
    "operands.stages.0": {"offer", "dispatch"},
    "register_file": {"lookup", "read", "memory", "delivery", *ON_RESULTS},
    "register_file.banks": {"write", "read"},
    "register_file.writeback": {"result_mem", "done_mem", "write", "renewal", "latches", "delivery", *ON_RESULTS},
    "register_file.metadata_table": {"lookup", "renewal"},
    "pipes": {"dispatch", "outside", "outside_sp", "result_sp"},
}

RENAMED = {
    "operands": {"issue", "read", "dispatch"},
    "rename_stage": {"issue", "renamed"},
}

EDGES = {"slots": SLOTS, "windows": WINDOWS, "renamed": RENAMED}
"""The members of each part that are signatures, for three configurations; of the third, where it differs."""

SETTINGS = {
    "slots": ["coalescing=on", "affine=abm", "schedulers=1"],
    "windows": ["bypass=bow_wr", "coalescing=on", "entries=4"],
    "renamed": ["renaming=mem_ra", "tfet_rows=8", "pipes.sp.result_queue=2"],
}

BY_HAND = {
    ("operands.collectors", "instruction"): "it is made of the instruction at the port and of what is looked up",
    ("operands.collectors.collectors.0", "instruction"): "of slots: that of the issue port which a collector serves",
    ("operands.collectors.collectors.0", "read"): "of windows: one read at a time, spread over the ports of all banks",
    ("operands.collectors.collectors.0", "forward"): "results are chosen by warp",
    ("operands.collectors.collectors.0", "eviction"): "evictions are chosen in turn",
    ("operands.collectors.address_slots.0", "instruction"): "that of the issue port's input which it takes",
    ("operands.collectors", "offer"): "the stages of all dispatch ports see it",
    ("operands.collectors", "address"): "the same",
    ("operands.stages.0", "offer"): "every dispatch port sees what is offered; an instruction leaves by one of them",
    ("operands.stages.0", "address"): "the same",
    ("register_file.writeback", "latches"): "only benches see it",
}
"""Edges that are wired member by member, and why."""


def identity(end: Any) -> int:
    """A number that an interface has in common with its flipped self alone."""
    return id(wiring.flipped(end) if isinstance(end, wiring.FlippedInterface) else end)


def is_joined(end: Any, joined: set[int]) -> bool:
    """Whether an interface is connected, as a whole or in all of its nested interfaces."""
    inner = [getattr(end, name) for name, member in end.signature.members.items() if member.is_signature]
    return identity(end) in joined or (bool(inner) and all(is_joined(each, joined) for each in inner))


def part_of(made: Datapath, path: str) -> Any:
    """A part by its dotted path, in which one of several is a number."""
    return reduce(lambda part, name: part[int(name)] if name.isdigit() else getattr(part, name), path.split("."), made)


def wired_by_hand(name: str, joined: dict[str, set[int]]) -> set[tuple[str, str]]:
    """The edges of a configuration that nothing around their part connects. `joined` are the ends that each module
    has connected."""
    made = Datapath(config=SmConfig.preset("small").with_settings(SETTINGS[name]))
    Fragment.get(made, platform=None)
    found = set()
    for path, edges in EDGES[name].items():
        part = part_of(made, path)
        around = set().union(*(ends for module, ends in joined.items() if module != type(part).__module__))
        assert {edge for edge, member in part.signature.members.items() if member.is_signature} == edges, path
        for edge in edges:
            ends = getattr(part, edge)
            if not all(is_joined(end, around) for end in (ends if isinstance(ends, list) else [ends])):
                found.add((path, edge))
    return found


def test_the_datapath_is_short() -> None:
    assert len(inspect.getsource(inspect.getmodule(Datapath)).splitlines()) < 200


@pytest.mark.long
def test_every_edge_is_a_signature_that_is_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: dict[str, set[int]] = {}
    kept: list[Any] = []  # that no identity is given twice

    def connects_of(module: str) -> Callable[..., None]:
        ends_joined = joined.setdefault(module, set())

        def connect(m: Any, *ends: Any) -> None:
            kept.extend(ends)
            ends_joined.update(map(identity, ends))
            wiring.connect(m, *ends)

        return connect

    for joint in JOINTS:
        module = importlib.import_module(f"warploom.rtl.{joint}")
        if hasattr(module, "connect"):
            monkeypatch.setattr(module, "connect", connects_of(module.__name__))
    assert set().union(*(wired_by_hand(name, joined) for name in EDGES)) == BY_HAND.keys()
