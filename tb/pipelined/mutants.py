"""Planted bugs in the parts of reads in two cycles."""

from functools import partial

from amaranth import Module, Value

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.pipelined import SETTING
from warploom.rtl.pipelined.arbiter import PipelinedArbiter
from warploom.rtl.pipelined.read_port import ReadPort
from warploom.tb.mutants import Mutant, Rewire, Tampered, arbiter

SETTINGS = ("bypass=bow", SETTING)


def _port(rewire: Rewire, config: SmConfig) -> Tampered:
    return Tampered(ReadPort(config=config), rewire)


def _arbiter(rewire: Rewire, config: SmConfig) -> Tampered:
    return Tampered(arbiter(PipelinedArbiter, config), rewire)


def _eager(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"grant": outer.valid.as_value()}


def _forgetful(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"request": outer.request & ~outer.inner.who}


def _idle(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"selected": outer.inner.selected & ~outer.grant.replicate(len(outer.selected))}


MUTANTS = (
    Mutant("ReadPort", "warploom.tb.pipelined.test_read_port", "selects no collector twice in a row",
           partial(_port, _forgetful), SETTINGS),
    Mutant("ReadPort", "warploom.tb.pipelined.test_read_port", "tells none that is selected as another one is granted",
           partial(_port, _idle), SETTINGS),
    Mutant("PipelinedArbiter", "warploom.tb.pipelined.test_arbiter", "reads a bank that is written",
           partial(_arbiter, _eager), SETTINGS),
)
