"""Which virtual registers may not share a physical register, and how much each is used."""

from collections import defaultdict
from dataclasses import dataclass, field

from warploom.arch.isa import Op
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.ir import Node, RegisterClass, VirtualRegister
from warploom.compiler.liveness import Liveness, numbers

_LOOP_WEIGHT = 10
"""How often a loop is guessed to run, for the cost of a spill and the gain of removing a copy."""


@dataclass
class Interference:
    """Of one register class. `adjacent[n]` is the mask of registers that register n may not share with; `cost[n]`
    counts its reads and writes and `copies` lists (weight, destination, source), both weighted by loop depth;
    `makers[n]` are the nodes that write it."""

    registers: dict[int, VirtualRegister] = field(default_factory=dict)
    adjacent: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    cost: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    copies: list[tuple[int, int, int]] = field(default_factory=list)
    makers: dict[int, list[Node]] = field(default_factory=lambda: defaultdict(list))

    def constant(self, register: int) -> Node | None:
        """The node that makes a register which can be made again instead of being spilled."""
        makers = self.makers[register]
        return makers[0] if len(makers) == 1 and makers[0].rematerialisable else None


def copy_source(node: Node) -> VirtualRegister | None:
    """The register that an unguarded MOV copies, None for any other node."""
    source = node.src[0]
    if node.op is Op.MOV and node.guard is None and isinstance(source, VirtualRegister):
        return source
    return None


def build_interference(flow: ControlFlow, kind: RegisterClass) -> Interference:
    """The interference of one class of registers in a control-flow graph.

    A write clobbers every register that is live after it, except that a copy leaves both sides with one value.
    """
    found, liveness, in_class = Interference(), Liveness(flow), 0
    for block in flow.blocks:
        for node in block.nodes:
            for register in (*node.reads, *node.writes):
                if register.kind is kind:
                    found.registers[register.number] = register
                    in_class |= 1 << register.number
    for index, depth in enumerate(flow.depths):
        weight = _LOOP_WEIGHT ** min(depth, 6)
        for node, live in liveness.after(index):
            for register in (*node.reads, *node.writes):
                found.cost[register.number] += weight
            source = copy_source(node)
            for register in node.writes:
                found.makers[register.number].append(node)
                clobbered = live & in_class & ~(1 << register.number)
                if source is not None:
                    clobbered &= ~(1 << source.number)
                    if source.kind is kind:
                        found.copies.append((weight, register.number, source.number))
                if register.kind is kind:
                    found.adjacent[register.number] |= clobbered
    _make_symmetric(found.adjacent)
    return found


def _make_symmetric(adjacent: dict[int, int]) -> None:
    for register, others in list(adjacent.items()):
        bit = 1 << register
        for other in numbers(others):
            adjacent[other] |= bit
