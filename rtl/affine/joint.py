"""The affine unit's sets, joined to their datapath."""

from typing import Any

from amaranth import Module
from amaranth.lib.wiring import connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import issue_names
from warploom.rtl.affine.sets import AffineSets, edges


def join(m: Module, config: SmConfig, sets: AffineSets, outer: Any, operands: Any) -> None:
    """Connect attempts of the datapath `outer` to their sets, and the sets' look-ups of compact slots; the operand
    store gets instructions without them."""
    m.d.comb += sets.registers.eq(outer.registers)
    for name in edges(config):
        connect(m, flipped(getattr(outer, name)), getattr(sets, name))
    for port, name in enumerate(issue_names(config)):
        issue, compact = getattr(outer, name).payload, sets.compact[port]
        connect(m, compact, operands.compact[port])
        m.d.comb += [
            sets.issue[port].eq(issue),
            operands.issue[port].payload.reads.eq(issue.reads & ~compact.slots.compact),
        ]
