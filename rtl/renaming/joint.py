"""The rename stage, joined to its datapath."""

from typing import Any

from amaranth import Module, Value
from amaranth.lib.wiring import In, connect

from warploom.arch.config import SmConfig
from warploom.rtl.renaming.stage import RenameStage, edges


def join(m: Module, config: SmConfig, stage: RenameStage, outer: Any, *, operands: Any, released: Value) -> None:
    """Connect the stage of the datapath `outer` to the operand store. `released` are rows of the register file."""
    connect(m, stage.renamed, operands.issue[0])
    m.d.comb += [
        stage.free.eq(operands.free_collectors),
        operands.address[0].eq(stage.address),
        stage.released.eq(released),
    ]
    for name, member in edges(config).items():
        port, inner = getattr(outer, name), getattr(stage, name)
        m.d.comb += inner.eq(port) if member.flow is In else port.eq(inner)
