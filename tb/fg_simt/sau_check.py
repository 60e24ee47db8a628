"""Checks an SAU against `warploom.golden_model.fg_simt.lanes`."""

from typing import Any, NamedTuple

import numpy as np

from warploom.arch.fg_simt.sizes import DIVISIONS, LATENCY
from warploom.arch.isa import Op
from warploom.golden_model.fg_simt.lanes import function_of
from warploom.golden_model.functional.operations import Operands, Outcome
from warploom.tb.bench import Checker, Coverage, Observation, Ports
from warploom.tb.codec import join
from warploom.tb.fg_simt.eight_lanes import LANES
from warploom.tb.fg_simt.sau_traffic import DIVISION_CYCLES

POINTS = ("successive results of different latencies", "register and predicate", "no lane executes",
          "collect", "no result is written")
DIVISION_POINTS = ("carry of a product", "result just behind a division", "division behind a division")

Fields = dict[str, Any]

NOTHING: Fields = {"register": None, "predicate": None}


class Entered(NamedTuple):
    """A group: its operation, the cycle in which it entered, and the results as a port shows them."""

    op: Op
    cycle: int
    shown: Fields


def shown(register: Fields, predicate: Fields, about: Fields, words: list[int], verdicts: int) -> Fields:
    """Results of a group: of words and predicates those that are written, 0 for other lanes."""
    execute = about["execute"]
    if not register["valid"] and not predicate["valid"]:
        return NOTHING
    return {
        "group": about["group"], "execute": execute,
        "register": register["number"] if register["valid"] else None,
        "predicate": predicate["number"] if predicate["valid"] else None,
        "words": [word if execute >> lane & 1 else 0 for lane, word in enumerate(words) if register["valid"]],
        "verdicts": verdicts & execute if predicate["valid"] else 0,
    }


class SauCheck:
    """Outputs of each cycle equal the model's, in exactly the cycles of the contract."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._due: dict[int, Entered] = {}
        self._executing: int | None = None
        self._last: Entered | None = None  # what was written in the cycle before
        self._division = 0

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        cycle = self._checker.cycle
        entered = self._due.pop(cycle, None)
        name = f"write of {entered.op.name} that entered in {entered.cycle}" if entered else "write"
        fields = self._codecs["write"].unpack(seen["write"])
        actual = shown(fields["destination"], fields["predicate"], fields, [*fields["words"].values()],
                       fields["verdicts"])
        self._checker.equal(name, actual, entered.shown if entered else NOTHING)
        if self._executing is not None:
            self._checker.equal("holds", seen["holds"], self._executing)
        self._count_result(entered)
        self._executing = None
        if seen["enter__valid"]:
            self._enter(cycle, self._codecs["enter__payload"].unpack(seen["enter__payload"]))

    def _enter(self, cycle: int, given: Fields) -> None:
        """When the results of a group are to be there, and what they are."""
        op, self._executing = Op(given["op"]), given["execute"]
        a, b, c = (np.array([*given[slot].values()], np.uint32) for slot in "abc")
        pred = (given["pred"] >> np.arange(LANES) & 1).astype(bool)
        with np.errstate(all="ignore"):
            outcome = function_of(op, given["modifiers"], False)(Operands(a, b, c, pred))
        words = [] if outcome.result is None else np.broadcast_to(outcome.result, LANES).tolist()
        verdicts = 0 if outcome.pred is None else join(np.broadcast_to(outcome.pred, LANES).astype(int).tolist(), 1)
        entered = Entered(op, cycle, shown(given["destination"], given["predicate"], given, words, verdicts))
        self._due[cycle + LATENCY[op] + 1] = entered
        self._count_entering(entered, given, outcome)

    def _count_entering(self, entered: Entered, given: Fields, outcome: Outcome) -> None:
        hit, op = self._coverage.hit, entered.op
        hit(op.name)
        register, predicate = (given[name]["valid"] for name in ("destination", "predicate"))
        hit("register and predicate", register and predicate)
        hit("no lane executes", not given["execute"])
        hit("collect", op is Op.MOV and entered.shown is NOTHING)
        hit("no result is written", op is not Op.MOV and entered.shown is NOTHING)
        if op is Op.IMAD:
            assert outcome.pred is not None
            hit("carry of a product", predicate and outcome.pred.any())
        if op in DIVISIONS and not given["group"]:
            hit("division behind a division", entered.cycle == self._division + DIVISION_CYCLES)
            self._division = entered.cycle

    def _count_result(self, result: Entered | None) -> None:
        hit, last = self._coverage.hit, self._last
        if result is not None and last is not None:
            hit("successive results of different latencies", LATENCY[last.op] != LATENCY[result.op])
            if last.op in DIVISIONS:
                hit("result just behind a division")
        self._last = result
