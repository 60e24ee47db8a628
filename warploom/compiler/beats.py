"""Beats: nodes that use a unit's latch and must stay together (see `warploom.compiler.ir`)."""

from collections.abc import Iterator

from warploom.arch.isa import Op
from warploom.compiler.ir import Node


def beat_groups(nodes: list[Node]) -> Iterator[list[Node]]:
    """The nodes in order, in groups that must stay together: most are one node; a LATCH, the node that it serves and
    the HIGH that takes the upper word of its result form one group."""
    group: list[Node] = []
    for node in nodes:
        if group and node.op is not Op.HIGH and group[-1].op is not Op.LATCH:
            yield group
            group = []
        group.append(node)
    if group:
        yield group
