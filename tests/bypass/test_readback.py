"""Reading registers back after a run: with windows some values are in collectors, and without hints none is missing."""

from contextlib import nullcontext
from typing import Any

import pytest
from support.bypassing import LOW, config

from warploom.arch.config import SmConfig
from warploom.arch.layout import address, rows_per_warp
from warploom.arch.program import Program
from warploom.golden_model.assembly import datapath_of
from warploom.golden_model.compact import Compact
from warploom.golden_model.integer import evaluate
from warploom.golden_model.words import ALL_LANES
from warploom.tb.affine.operands import uniform_answer
from warploom.tb.readback import Readback
from warploom.tb.shadow import Shadow

REGISTERS, WARP, REGISTER = 16, 2, 5
PROGRAM = Program(name="test", source="", instructions=(), lines=(), registers=REGISTERS)


def readback(bypass: str, *, filed: int = 0, dirty: int = 0, restarted: bool = False) -> dict[str, Any]:
    """The first instruction that reads back, after an instruction wrote R5 in all lanes, the register file got some of
    them, and an entry has others."""
    setting = config(bypass)
    datapath: Any = datapath_of(setting, PROGRAM, setting.warps, evaluate, uniform_answer)
    entry = datapath.operands.collectors[WARP].entries[0]
    entry.used, entry.register, entry.dirty = True, REGISTER, dirty
    shadow, where = Shadow(setting), address(setting, rows_per_warp(setting, REGISTERS), WARP, REGISTER)
    shadow.complete(WARP, where, 0, ALL_LANES, ALL_LANES)
    shadow.assign(WARP, where, filed, False)
    if restarted:
        shadow.restart(WARP)
    reader = Readback(setting, REGISTERS, datapath, shadow)
    reader.step()
    (issue,) = reader.inputs.issue
    assert issue is not None
    return {"defined": reader.defined[issue["tag"]].operands[0], "lanes": issue["lanes"]}


@pytest.mark.parametrize("bypass", ["bow_wr", "bow_hints"])
def test_lanes_are_in_the_register_file_or_a_collector(bypass: str) -> None:
    assert readback(bypass, filed=LOW, dirty=ALL_LANES & ~LOW)["defined"] == ALL_LANES


@pytest.mark.parametrize(("bypass", "lost"), [("bow", True), ("bow_wr", True), ("bow_hints", False)])
def test_only_hints_lose_a_value(bypass: str, lost: bool) -> None:
    with pytest.raises(AssertionError, match="warp 2 has lost lanes 0xffff0000 of R5") if lost else nullcontext():
        assert readback(bypass, filed=LOW) == {"defined": LOW, "lanes": LOW}


@pytest.mark.parametrize("bypass", ["bow_wr", "bow_hints"])
def test_what_a_warp_left_behind_is_forgotten(bypass: str) -> None:
    """The next warp finds the old value, which is also known."""
    assert readback(bypass, filed=LOW, restarted=True)["defined"] == LOW


@pytest.mark.parametrize("stored", [False, True])
def test_compact_registers_are_read_in_all_lanes(stored: bool) -> None:
    """In all lanes, regardless of the register file's contents."""
    setting = SmConfig.preset("small").with_settings(["affine=abm"])
    datapath: Any = datapath_of(setting, PROGRAM, setting.warps, evaluate, uniform_answer)
    datapath.affine.registers.write(WARP, REGISTER, Compact(7, 1))
    shadow = Shadow(setting)
    if stored:
        where = address(setting, rows_per_warp(setting, REGISTERS), WARP, REGISTER)
        shadow.complete(WARP, where, 0, LOW, LOW)
        shadow.assign(WARP, where, LOW, False)
    reader = Readback(setting, REGISTERS, datapath, shadow)
    reader.step()
    issue = reader.inputs.issue[0]
    assert issue is not None and (issue["warp"], issue["reads"], issue["src0"]) == (WARP, 1, REGISTER)
    assert reader.defined[issue["tag"]].operands == (ALL_LANES,) * 3
    assert reader.compared == 1
