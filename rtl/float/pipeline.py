"""Stages of logic with registers between them."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring


def connect_stages(m: Module, unit: Any, stages: Mapping[str, wiring.Component]) -> None:
    """Connect combinational stages, each with one input and one output, between the ports `operands` and `result` of a
    unit, with a register behind each; `done` is `valid` as many cycles later as there are stages."""
    ports = []
    for name, stage in stages.items():
        m.submodules[name] = stage
        ports.append([getattr(stage, port) for port in stage.signature.members])
    m.d.comb += ports[0][0].eq(unit.operands)
    for (_, source), (target, _) in pairwise(ports):
        register = Signal(source.shape(), reset_less=True)
        m.d.sync += register.eq(source)
        m.d.comb += target.eq(register)
    result, valid = Signal(32, reset_less=True), Signal(len(ports))
    m.d.sync += [result.eq(ports[-1][1]), valid.eq(Cat(unit.valid, valid))]
    m.d.comb += [unit.result.eq(result), unit.done.eq(valid[-1])]
