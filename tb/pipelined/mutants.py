"""Planted bugs in the parts of reads in two cycles."""

from functools import partial

from amaranth import Const, Module, Value

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.pipelined import SETTING
from warploom.rtl.pipelined.arbiter import PipelinedArbiter
from warploom.rtl.pipelined.read_port import ReadPort
from warploom.tb.mutants import Mutant, Rewire, Tampered

PLAIN, SIDED = ("bypass=bow", SETTING), ("bypass=bow", "coalescing=on", SETTING)
BENCH = "warploom.tb.pipelined.test_arbiter"


class Unseeing(PipelinedArbiter):
    """Reads do not see what the writes take."""

    def _written(self, bank: int, mask: Value) -> Value:
        return Const(0, 1)


def _port(rewire: Rewire, config: SmConfig) -> Tampered:
    return Tampered(ReadPort(config=config), rewire)


def _arbiter(rewire: Rewire, config: SmConfig) -> Tampered:
    return Tampered(PipelinedArbiter(config=config), rewire)


def _hasty(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"write_pending": outer.write_request}


def _eager(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"grant": outer.valid.as_value()}


def _forgetful(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"request": outer.request & ~outer.inner.who}


def _idle(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"selected": outer.inner.selected & ~outer.grant.replicate(len(outer.selected))}


MUTANTS = (
    Mutant("ReadPort", "warploom.tb.pipelined.test_read_port", "selects no collector twice in a row",
           partial(_port, _forgetful), PLAIN),
    Mutant("ReadPort", "warploom.tb.pipelined.test_read_port", "tells none that is selected as another one is granted",
           partial(_port, _idle), PLAIN),
    Mutant("PipelinedArbiter", f"{BENCH}::random_requests", "reads a bank that is written",
           partial(_arbiter, _eager), PLAIN),
    Mutant("PipelinedArbiter", f"{BENCH}::random_masks", "reads what is written", lambda c: Unseeing(config=c), SIDED),
    Mutant("PipelinedArbiter", f"{BENCH}::random_masks", "gives way to requested writes alone",
           partial(_arbiter, _hasty), SIDED),
    Mutant("PipelinedArbiter", f"{BENCH}::random_masks", "overlooks that two sides overlap",
           partial(_arbiter, lambda o, m: {"mask": Const(0, len(o.mask.as_value()))}), SIDED),
)
