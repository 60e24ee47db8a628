"""The environment of a datapath with an affine unit in a random test: instructions, attempts, and expansions."""

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from warploom.arch.compact import UNIFORM_ANSWER_CYCLES
from warploom.arch.config import LANES
from warploom.arch.interfaces import TAG_BITS, attempt_fields, hint_fields
from warploom.arch.isa import NO_SLOT, Op, TimingClass
from warploom.golden_model.affine.rules import COMPARISONS
from warploom.golden_model.words import ALL_LANES
from warploom.tb.affine.attempts import Waits
from warploom.tb.affine.operands import ARITY, random_trial, uniform_answer
from warploom.tb.bench import Ports, busy
from warploom.tb.bypass.promises import Register
from warploom.tb.datapath_driver import REGISTERS, Issues, Surroundings
from warploom.tb.lane_driver import encoded, operand, timing

TARGETS = 12
"""Registers of a warp that attempts write; instructions write all of them."""


class AffineSurroundings(Surroundings):
    """`Surroundings` that also attempts instructions in every set that serves no instruction, with pairs also beside
    one without compact slots. It tracks compact registers by the outcomes, and expands those that are not written as a
    whole. Warps do not go back to squashed attempts."""

    def __init__(self, ports: Ports, rng: random.Random, instructions: int) -> None:
        super().__init__(ports, rng, instructions)
        config = ports.config
        self._compact: set[Register] = set()
        self._attempts: defaultdict[int, list[dict[str, int]]] = defaultdict(list)  # by warp, without outcome
        self._waits: defaultdict[int, Waits] = defaultdict(Waits)  # by warp
        self._expansions: dict[int, dict[str, int]] = {}  # by warp, those that have not issued
        self._requests: dict[int, dict[str, Any]] = {}  # by cycle: ports of their results
        self._active = [busy(rng, 0.5) for _ in range(config.schedulers)]

    def _before(self, fields: dict[str, int]) -> dict[str, int]:
        """An instruction that writes some lanes of a compact register issues after an expansion of it."""
        coming = self._expanded(fields)
        coming["compact"] = sum(1 << slot for slot in range(3) if coming["reads"] >> slot & 1 and
                                (coming["warp"], coming[f"src{slot}"]) in self._compact)
        return coming

    def _expanded(self, fields: dict[str, int]) -> dict[str, int]:
        warp, register = fields["warp"], fields["dst"]
        if fields["full"] or not fields["writes"] or (warp, register) not in self._compact:
            return fields
        if warp not in self._expansions:
            hints = {"aside": 1, "to_collector": 0, "to_file": 1} if hint_fields(self._config) else {}
            self._expansions[warp] = fields | hints | {
                "tag": next(self._tags) % (1 << TAG_BITS), "op": Op.MOV, "modifiers": 0,
                "pipe": self._config.serving(TimingClass.INT_ADD, warp)[0], "timing": timing(Op.MOV), "reads": 1,
                "src0": register, "imm_slot": NO_SLOT, "lanes": ALL_LANES, "full": 1,
            }
        return self._expansions[warp]

    def _may_issue(self, fields: dict[str, int]) -> bool:
        return not self._attempts[fields["warp"]] and super()._may_issue(fields)

    def _sources(self, fields: dict[str, int]) -> set[Register]:
        return super()._sources(fields) - self._compact

    def _may_pair(self, first: dict[str, int], second: dict[str, int]) -> bool:
        has_compact = [super(AffineSurroundings, self)._sources(one) & self._compact for one in (first, second)]
        return super()._may_pair(first, second) and not all(has_compact)

    def _is_apart(self, fields: dict[str, int]) -> bool:
        return self._config.has_address_slot and fields["op"] == Op.LD and not self._sources(fields)

    def _issued(self, fields: dict[str, int]) -> None:
        super()._issued(fields)
        self._expansions.pop(fields["warp"], None)
        if fields["writes"]:
            self._compact.discard((fields["warp"], fields["dst"]))

    def _beside(self, cycle: int, issuing: Issues, *, over: bool) -> dict[str, Any]:
        """Attempts, and results of the uniform unit."""
        ports: dict[str, Any] = {}
        for number, active in enumerate(self._active):
            self._answer(cycle, number)
            served = [fields for fields in issuing if fields and fields["warp"] % len(self._active) == number]
            if next(active) and cycle and self._may_attempt(served) and not over and (
                    attempt := self._attempt(cycle, number, *served)) is not None:
                self._attempts[attempt["warp"]].append(attempt)
                self._waits[attempt["warp"]].went("attempt", attempt, cycle)
                ports |= {f"attempt_{number}__valid": 1, f"attempt_{number}__payload": attempt}
            self._outcome(number)
        return ports | self._requests.pop(cycle, {})

    def _may_attempt(self, served: Sequence[dict[str, int]]) -> bool:
        """Whether a set that serves these instructions may take an attempt: the second of a pair."""
        if not (self._config.has_pairs and served):
            return not served
        return len(served) == 1 and not super()._sources(served[0]) & self._compact

    def _answer(self, cycle: int, number: int) -> None:
        """Schedule the results of this cycle's uniform operations."""
        if self._ports.peek(f"uniform_{number}__valid"):
            port = f"uniform_{number}__payload"
            asked = self._ports.codecs[port].unpack(self._ports.peek(port))
            value, holds = uniform_answer(**asked)
            self._requests.setdefault(cycle + UNIFORM_ANSWER_CYCLES, {}).update({
                f"uniform_result_{number}__valid": 1,
                f"uniform_result_{number}__payload": {"value": value, "holds": holds},
            })

    def _outcome(self, number: int) -> None:
        if self._ports.peek(f"outcome_{number}__valid"):
            port = f"outcome_{number}__payload"
            outcome = self._ports.codecs[port].unpack(self._ports.peek(port))
            attempts = self._attempts[outcome["warp"]]
            attempt = attempts.pop(0)
            if not outcome["accepted"]:
                attempts.clear()
            elif attempt["writes"]:
                self._compact.add((attempt["warp"], attempt["dst"]))

    def _attempt(self, cycle: int, number: int, *first: dict[str, int]) -> dict[str, int] | None:
        """An attempt of a warp of the set, if no hazard prevents it; perhaps the second beside a first."""
        rng = self._rng
        warp = first[0]["warp"] if first else rng.randrange(number, self._config.warps, len(self._active))
        trial = random_trial(rng)
        if trial.op in COMPARISONS and not self._config.affine.has_branches:
            return None
        fields = {name: rng.getrandbits(bits) for name, bits in attempt_fields(self._config)}
        compares = trial.op in COMPARISONS
        fields |= {
            "warp": warp, "op": trial.op, "modifiers": encoded(trial.op, trial.modifiers),
            "dst": rng.randrange(TARGETS), "writes": not compares and rng.random() < 0.9,
            "lanes": rng.choice((ALL_LANES, rng.getrandbits(LANES))),
            "pred": rng.choice((0, ALL_LANES, fields["pred"])), "writes_predicate": compares or rng.random() < 0.2,
            **self._slots(warp, ARITY[trial.op]),
        }
        early = self._waits[warp].until("attempt", fields) > cycle
        if first and not self._may_pair(first[0], fields | {"pipe": 0}):
            return None
        return None if early or self._in_flight.hinders(fields | {"first": 0}) else fields

    def _slots(self, warp: int, arity: int) -> dict[str, int]:
        """Sources, most of them compact or coming, and often an immediate; S2R has no source, but the value of its
        first lane."""
        rng = self._rng
        coming = {attempt["dst"] for attempt in self._attempts[warp] if attempt["writes"]}
        compact = sorted(coming | {register for owner, register in self._compact if owner == warp})
        constant = rng.randrange(arity) if arity and (rng.random() < 0.5 or not compact) else NO_SLOT
        fields = {"imm_slot": constant, "imm": operand(rng), "reads": 0}
        for slot in range(3):
            fields[f"src{slot}"] = rng.choice(compact) if compact and rng.random() < 0.97 else rng.randrange(REGISTERS)
            fields["reads"] |= (slot < arity and slot != constant) << slot
        return fields
