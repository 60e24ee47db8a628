"""Bugs of the cycle model and of the compiler that a random program once found: each is planted again, and the stored
program (`tests/programs/machine`) must still find it."""

from collections.abc import Callable
from typing import Any

import pytest

import warploom.golden_model.register_file.width as coalescing
from warploom.arch.isa import Op
from warploom.compiler import unallocated
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.register_file.width import renew
from warploom.golden_model.register_file.zero_mask import LaneOrder

_may_start_compact = unallocated._may_start_compact
_free_entries, _scoreboard, _renew = BypassingCollector.free_entries, Scoreboard.__init__, LaneOrder.renew

BUGS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    # a warp issues while an eviction of its collector is in flight to the register file
    "hidden_eviction": (BypassingCollector, "free_entries", lambda collector, blocked: _free_entries(collector, False)),
    # a register that the datapath has written stays compact
    "stale_tag": (AffineRegisterFile, "make_generic", lambda *_: None),
    # the width of a partial write is that of the lanes that are written
    "narrow_partial_write": (coalescing, "renew",
                             lambda old, word, lanes, full, side: renew(old, word, lanes, True, side)),
    # an instruction overwrites a register that an older one still has to read
    "untracked_reads": (Scoreboard, "__init__",
                        lambda board, warps, **_: _scoreboard(board, warps, tracks_reads=False)),
    # a partial write changes the byte order of lanes that it does not write
    "reordered_others": (LaneOrder, "renew",
                         lambda order, old, word, lanes, full: _renew(order, old, word, lanes, True)),
    # what a barrier has counted is uniform, and values that are computed from it have no row
    "counted_at_a_barrier": (unallocated, "_may_start_compact",
                             lambda instruction: _may_start_compact(instruction) and instruction.op is not Op.BARRED),
}
"""By the name of the program: the replaced text, and its replacement."""


def plant(monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    """Plant a bug."""
    monkeypatch.setattr(*BUGS[bug])
