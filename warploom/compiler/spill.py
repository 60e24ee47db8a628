"""Rewrites a body so that registers without a physical register live elsewhere.

A constant is recomputed before each use, a general register goes to a word of local memory, a predicate to bit 0 of a
general register. Each beat group gets a fresh temporary for each spilled register that it accesses. The temporary is
loaded before the group, if the group reads it or writes it only in some lanes, and stored after the group, if it was
written. So a spilled guarded write needs no guard on its store.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Cond, Space
from warploom.compiler.beats import beat_groups
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.ir import Function, Imm, Node, VirtualRegister


@dataclass(frozen=True)
class Constant:
    """The value that `node` computes, which is recomputed."""

    node: Node


@dataclass(frozen=True)
class Slot:
    """A word of local memory at a byte offset."""

    offset: int


@dataclass(frozen=True)
class Bit:
    """Bit 0 of a general register, the others being zero."""

    register: VirtualRegister


Home = Constant | Slot | Bit


class Spiller:
    """Moves registers of a function to their homes. `origins` maps every node that replaces one of the original body to
    that node; nodes that spilling adds are not in it. `temporaries` has the numbers of the added registers."""

    def __init__(self, function: Function, origins: dict[Node, Node]) -> None:
        self.function = function
        self.origins = origins
        self.temporaries: set[int] = set()

    def rewrite(self, flow: ControlFlow, homes: dict[int, Home]) -> None:
        """Give every register of `homes` (by number) its home, in all blocks of the graph."""
        for block in flow.blocks:
            nodes: list[Node] = []
            for group in beat_groups(block.nodes):
                if not _is_remade(group, homes) and not _stays_at_home(group, homes):
                    nodes += self._group(group, homes)
            block.nodes = nodes

    def _group(self, group: list[Node], homes: dict[int, Home]) -> list[Node]:
        touched = dict.fromkeys(r for node in group for r in (*node.reads, *node.writes) if r.number in homes)
        if not touched:
            return group
        names = {register: self._temporary(register) for register in touched}
        line = group[0].line
        before = [_fill(names[r], homes[r.number], line) for r in touched if _needs_old_value(group, r)]
        after = [_keep(names[r], homes[r.number], line) for r in touched if any(r in node.writes for node in group)]
        return before + [self._renamed(node, names.get) for node in group] + after

    def _temporary(self, register: VirtualRegister) -> VirtualRegister:
        temporary = self.function.new(register.kind, local=register.local)
        self.temporaries.add(temporary.number)
        return temporary

    def _renamed(self, node: Node, names: Callable[[VirtualRegister], VirtualRegister | None]) -> Node:
        new = rename(node, names)
        if node in self.origins:
            self.origins[new] = self.origins.pop(node)
        return new


def rename(node: Node, names: Callable[[VirtualRegister], VirtualRegister | None]) -> Node:
    """A copy of a node in which registers are replaced as `names` says."""
    def new(operand: Any) -> Any:
        return names(operand) or operand if isinstance(operand, VirtualRegister) else operand

    return replace(node, dst=new(node.dst), src=[new(s) for s in node.src], guard=new(node.guard),
                   pdst=new(node.pdst), psrc=new(node.psrc))


def _is_remade(group: list[Node], homes: dict[int, Home]) -> bool:
    return any(isinstance(homes.get(register.number), Constant) for node in group for register in node.writes)


def _stays_at_home(group: list[Node], homes: dict[int, Home]) -> bool:
    """True for a copy between registers that share their home."""
    node = group[0]
    copied = node.src[0]
    if node.op is not Op.MOV or node.dst is None or not isinstance(copied, VirtualRegister):
        return False
    source, destination = homes.get(copied.number), homes.get(node.dst.number)
    return source is not None and source == destination


def _needs_old_value(group: list[Node], register: VirtualRegister) -> bool:
    """True if the first node that accesses a register reads it, or leaves it unchanged in some lanes."""
    node = next(node for node in group if register in node.reads or register in node.writes)
    return register in node.reads or (node.guard is not None and not register.local)


def _fill(temporary: VirtualRegister, home: Home, line: int) -> Node:
    if isinstance(home, Constant):
        return replace(home.node, dst=temporary, line=line)
    if isinstance(home, Bit):
        return Node(Op.ISETP, pdst=temporary, src=[home.register, None, None], modifiers={"cond": Cond.NE}, line=line)
    return Node(Op.LD, dst=temporary, imm=home.offset, modifiers=_local(), line=line)


def _keep(temporary: VirtualRegister, home: Home, line: int) -> Node:
    if isinstance(home, Bit):
        return Node(Op.SEL, dst=home.register, src=[Imm(1), None, None], psrc=temporary, line=line)
    assert isinstance(home, Slot)  # constants are never stored
    return Node(Op.ST, src=[None, None, temporary], imm=home.offset, modifiers=_local(), line=line)


def _local() -> dict[str, object]:
    return {"space": Space.LOCAL, "access": Access.B32}
