"""The affine unit's sets, joined to their datapath."""

from typing import Any

from amaranth import Module
from amaranth.lib.wiring import connect, flipped

from warploom.arch.config import SmConfig
from warploom.rtl.affine.sets import AffineSets, edges


def join(m: Module, config: SmConfig, sets: AffineSets, outer: Any, operands: Any) -> None:
    """Connect attempts of the datapath `outer` to their sets, and the sets to the operand store: it gets instructions
    without compact slots, and these beside them."""
    m.d.comb += sets.registers.eq(outer.registers)
    for name in edges(config):
        connect(m, flipped(getattr(outer, name)), getattr(sets, name))
    for port in range(config.issue_inputs):
        connect(m, sets.generic[port], operands.issue[port])
        connect(m, sets.compact[port], operands.compact[port])
