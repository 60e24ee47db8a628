"""Decisions of other kinds plugged into the front end: one that refuses, and one that delays. Front end and SM do not
depend on them."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from support.golden_traces import trace_of

import warploom.golden_model.sm
from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.golden_model.front_end.decisions import NO_PORT, Answer, Issued
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.hazards import UNANSWERED
from warploom.golden_model.front_end.instructions import Direct, Instructions
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace

WARPS = 4
CODE = [Instruction(op=Op.MOV, dst=number % 8, imm_slot=0, imm=number) for number in range(40)]


class Abreast:
    """A warp that is `lead` instructions ahead of another one may not enter the datapath."""

    counts = None
    apart = 0

    def __init__(self, direct: Direct, lead: int) -> None:
        self._direct, self._lead = direct, lead
        self.fields, self.flight, self.demand = direct.fields, direct.flight, direct.demand
        self.attempts, self.answers = direct.attempts, direct.answers
        self.passed = [0] * WARPS  # instructions that entered the datapath, by slot
        self.spread = 0

    def free_entries(self, free: Sequence[int]) -> Sequence[int]:
        """See `Decisions`, here and below."""
        ahead = sum(1 << slot for slot, count in enumerate(self.passed) if count >= min(self.passed) + self._lead)
        return [mask & ~ahead for mask in free]

    def issued(self, warp: Warp) -> Issued:
        self.passed[warp.slot] += warp.enters
        self.spread = max(self.spread, max(self.passed) - min(self.passed))
        return self._direct.issued(warp)


class Delayed:
    """Instructions are requested before they enter the datapath, and wait this number of cycles for the answer."""

    counts = None
    apart = 0

    def __init__(self, direct: Direct, cycles: int) -> None:
        self._direct, self._cycles = direct, cycles
        self.free_entries, self.attempts = direct.free_entries, direct.attempts
        self.fields, self.flight = direct.fields, direct.flight
        self._now, self._demands = 0, [NO_PORT] * WARPS
        self._waiting: list[tuple[int, Warp]] = []

    def demand(self, warp: Warp, static: Static) -> int:
        """See `Decisions`, here and below."""
        self._demands[warp.slot] = self._direct.demand(warp, static)
        return NO_PORT

    def issued(self, warp: Warp) -> Issued:
        if self._demands[warp.slot] == NO_PORT or warp.enters:
            return self._direct.issued(warp)
        self._waiting.append((self._now + self._cycles, warp))
        return Issued(again=self._demands[warp.slot], holds=1 << UNANSWERED)

    def answers(self) -> Sequence[Answer]:
        done = [warp for due, warp in self._waiting if due == self._now]
        self._waiting = [(due, warp) for due, warp in self._waiting if due > self._now]
        self._now += 1
        return [Answer(warp, 1 << UNANSWERED) for warp in done]


def plugged(monkeypatch: pytest.MonkeyPatch, plug_in: Callable[[Direct], Any], **fields: Any) -> Sm:
    """An SM with other decisions."""

    def decisions_of(config: SmConfig, trace: Trace, statics: Sequence[Static], *others: object, **more: object) -> Any:
        return plug_in(Direct(config, Instructions(statics)))

    monkeypatch.setattr(warploom.golden_model.sm, "decisions_of", decisions_of)
    return Sm(SmConfig().with_settings(["scheduler=gto", "schedulers=1"]), trace_of(CODE, **fields), check=True)


def entries(sm: Sm) -> list[tuple[int, int]]:
    """(slot, cycle) of every instruction that enters the datapath, for a whole run."""
    found = []
    while not sm.finished:
        if sm.cycle >= 0 and sm.inputs.issue:
            found.append((sm.inputs.issue[0]["warp"], sm.cycle))
        assert sm.cycle < 10_000
        sm.step()
    return found


@pytest.mark.parametrize("lead", [1, 3])
def test_a_plug_in_that_refuses(lead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warps that a greedy picker would let run ahead stay together."""
    sm = plugged(monkeypatch, lambda direct: Abreast(direct, lead), warps=WARPS)
    found = entries(sm)
    assert sorted(slot for slot, _ in found) == sorted(list(range(WARPS)) * len(CODE))
    assert sm.decisions.spread == lead  # type: ignore[attr-defined]
    free = plugged(monkeypatch, lambda direct: Abreast(direct, len(CODE)), warps=WARPS)
    assert entries(free) and free.decisions.spread > 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("cycles", [1, 7])
def test_a_plug_in_that_delays(cycles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each instruction is requested in the cycle after its predecessor entered, and enters when the answer comes."""
    sm = plugged(monkeypatch, lambda direct: Delayed(direct, cycles), warps=1)
    entered = [cycle for _, cycle in entries(sm)]
    assert len(entered) == len(CODE)
    gaps = [later - earlier for earlier, later in pairwise(entered)]
    assert min(gaps) == cycles + 2
    assert sm.front_end.stalls.counts[Stall.SCOREBOARD] >= cycles * len(CODE)
