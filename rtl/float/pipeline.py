"""Stages of logic with registers between them."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring


def connect_between(m: Module, operands: Value, stages: Mapping[str, wiring.Component]) -> Value:
    """Connect combinational stages, each with one input and one output, with a register between each two. Gives the
    output of the last one, which is there as many cycles after the operands as there are registers."""
    ports = []
    for name, stage in stages.items():
        m.submodules[name] = stage
        ports.append([getattr(stage, port) for port in stage.signature.members])
    m.d.comb += ports[0][0].eq(operands)
    for (_, source), (target, _) in pairwise(ports):
        register = Signal(source.shape(), reset_less=True)
        m.d.sync += register.eq(source)
        m.d.comb += target.eq(register)
    return ports[-1][1]


def connect_stages(m: Module, unit: Any, stages: Mapping[str, wiring.Component]) -> None:
    """Connect stages between the ports `operands` and `result` of a unit, with a register behind the last one, too;
    `done` is `valid` as many cycles later as there are stages."""
    result, valid = Signal(32, reset_less=True), Signal(len(stages))
    m.d.sync += [result.eq(connect_between(m, unit.operands, stages)), valid.eq(Cat(unit.valid, valid))]
    m.d.comb += [unit.result.eq(result), unit.done.eq(valid[-1])]
