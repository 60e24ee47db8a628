"""If-conversion: a short side of a branch becomes guarded nodes.

nvcc leaves if-conversion to ptxas: in PTX almost only branches have predicates, so each `if (x) y = z;` would diverge.
"""

from collections.abc import Callable
from functools import partial

from warploom.arch.isa import MEMORY_OPS, Op
from warploom.compiler.cfg import Block, ControlFlow
from warploom.compiler.ir import Function, Half, Node, VirtualRegister
from warploom.compiler.liveness import Liveness
from warploom.compiler.spill import rename

LONGEST_SIDE = 4
"""Maximum nodes of a converted side: of 0 to 6, this lets the bundled kernels execute the fewest instructions."""

_STAYS = frozenset({Op.VOTE, Op.MATCH, Op.REDUX, Op.SHFL, Op.S2R, *(op for op in Op if op >= Op.LATCH)}) - {Op.PLOP3}
"""Operations that depend on which lanes are active, must be adjacent to others, or are control."""


def convert_branches(function: Function) -> None:
    """Replace a branch around at most `LONGEST_SIDE` nodes by guards on those nodes; in place.

    Nodes that access no memory, and whose results are not read after the join, run unguarded in all lanes.
    """
    flow = ControlFlow(function.body)
    liveness = Liveness(flow)
    for index, block in enumerate(flow.blocks):
        if block.branch is not None and block.branch.guard is not None and _is_side(flow, index):
            side, join = flow.blocks[index + 1], block.successors[-1]
            if _convertible(side, block.branch):
                branch = block.nodes.pop()
                block.nodes += _guarded(function, side, branch, partial(liveness.enters, join))
                side.nodes = []
    function.body = flow.body


def _is_side(flow: ControlFlow, index: int) -> bool:
    """True if the fall-through of a block is entered only from there and continues to the target of the branch."""
    side, join = index + 1, index + 2
    return (flow.blocks[index].successors == (side, join) and flow.predecessors[side] == [index]
            and flow.blocks[side].successors == (join,) and flow.blocks[side].branch is None)


def _convertible(side: Block, branch: Node) -> bool:
    return len(side.nodes) <= LONGEST_SIDE and all(
        node.guard is None and node.op not in _STAYS and branch.guard not in node.writes for node in side.nodes)


def _guarded(function: Function, side: Block, branch: Node,
             is_live: Callable[[VirtualRegister], bool]) -> list[Node]:
    """The nodes of a side. A register that a guarded node writes only for other nodes of the side becomes local."""
    names: dict[VirtualRegister, VirtualRegister] = {}
    locals_ = _Locals(function)
    made = []
    for node in side.nodes:
        if node.op in MEMORY_OPS or any(map(is_live, node.writes)) or any(r in names for r in node.reads):
            new = rename(node, names.get)
            names |= {r: locals_.of(r) for r in node.writes if not is_live(r)}
            new.dst, new.pdst = (r and names.get(r, r) for r in (node.dst, node.pdst))
            new.guard, new.guard_not = branch.guard, not branch.guard_not
            made.append(new)
        else:
            for register in node.writes:
                names.pop(register, None)
            made.append(node)
    return made


class _Locals:
    """Local registers that replace others inside one side; a pair is replaced by a pair."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.pairs: dict[int, tuple[VirtualRegister, VirtualRegister]] = {}

    def of(self, register: VirtualRegister) -> VirtualRegister:
        if register.half is Half.NONE:
            return self.function.new(register.kind, local=True)
        high = register.half is Half.HIGH
        low = register.number - high
        if low not in self.pairs:
            self.pairs[low] = self.function.new_pair(local=True)
        return self.pairs[low][high]
