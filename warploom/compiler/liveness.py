"""Liveness of virtual registers, as Python integers: bit n stands for the register with number n, of either class.

Lanes are independent, so the liveness of one thread is enough under divergence. A guarded write leaves the old value in
some lanes and so does not end a live range upwards, except that of a `local` register. A register is live only where a
write of it can have come before: nothing has to be kept for a read of an undefined value.
"""

from collections.abc import Iterator

import numpy as np

from warploom.compiler.cfg import Block, ControlFlow
from warploom.compiler.ir import Node


def reads_mask(node: Node) -> int:
    """Registers that a node reads."""
    return sum(1 << register.number for register in node.reads)


def writes_mask(node: Node) -> int:
    """Registers that a node writes."""
    return sum(1 << register.number for register in node.writes)


def kills_mask(node: Node) -> int:
    """Registers whose old value nobody can read after the node."""
    return sum(1 << register.number for register in node.writes if node.guard is None or register.local)


def numbers(mask: int) -> list[int]:
    """The set bits of a mask, lowest first."""
    octets = np.frombuffer(mask.to_bytes((mask.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()


class Liveness:
    """What is live at every point of a control-flow graph, as it is when this is made. `live_in` holds, for each block,
    the registers that may be read before they are written, whether or not anything has written them."""

    def __init__(self, flow: ControlFlow) -> None:
        self.flow = flow
        self._defined_in = self._defined()
        self.live_in, self._live_out = self._live()

    def after(self, index: int) -> Iterator[tuple[Node, int]]:
        """(node, registers live after it) for the nodes of a block, last node first."""
        nodes = self.flow.blocks[index].nodes
        defined, known = self._defined_in[index], []
        for node in nodes:
            defined |= writes_mask(node)
            known.append(defined)
        live = self._live_out[index]
        for node, defined in zip(reversed(nodes), reversed(known), strict=True):
            yield node, live & defined
            live = live & ~kills_mask(node) | reads_mask(node)

    def _defined(self) -> list[int]:
        """Registers that may have been written before each block."""
        blocks = self.flow.blocks
        written = [_union(writes_mask(node) for node in block.nodes) for block in blocks]
        defined = [0] * len(blocks)
        waiting = list(range(len(blocks)))
        while waiting:
            index = waiting.pop()
            out = defined[index] | written[index]
            for successor in blocks[index].successors:
                if out & ~defined[successor]:
                    defined[successor] |= out
                    waiting.append(successor)
        return defined

    def _live(self) -> tuple[list[int], list[int]]:
        blocks = self.flow.blocks
        local = [_upward(block) for block in blocks]
        live_in = [exposed for exposed, _ in local]
        live_out = [0] * len(blocks)
        waiting = list(range(len(blocks)))
        while waiting:
            index = waiting.pop()
            live_out[index] = _union(live_in[s] for s in blocks[index].successors)
            exposed, killed = local[index]
            live = exposed | live_out[index] & ~killed
            if live != live_in[index]:
                live_in[index] = live
                waiting += self.flow.predecessors[index]
        return live_in, live_out


def _upward(block: Block) -> tuple[int, int]:
    """(registers read before they are written, registers killed) of a block."""
    exposed = killed = 0
    for node in block.nodes:
        exposed |= reads_mask(node) & ~killed
        killed |= kills_mask(node)
    return exposed, killed


def _union(masks: Iterator[int]) -> int:
    result = 0
    for mask in masks:
        result |= mask
    return result
