"""Fusion of a widening multiplication with the 64-bit addition that uses it: base + index * stride in two IMADs."""

from collections import Counter
from dataclasses import dataclass

from warploom.arch.isa import Op
from warploom.compiler.ir import CONSTANTS, Function, Label, Node, Operand, VirtualRegister


@dataclass(frozen=True)
class _Product:
    """The two multiplications of one 64-bit product, and its factors."""

    low: Node
    high: Node

    @property
    def factors(self) -> list[Operand]:
        return self.low.src[:2]


def fuse_multiply_add(function: Function) -> None:
    """Replace IMUL, IMUL.high, IADD, IADD.carry of one basic block by two IMADs, if nothing else reads the product.

    In place; dead results must have been removed before.
    """
    nodes = [item for item in function.body if isinstance(item, Node)]
    reads = Counter(register for node in nodes for register in node.reads)
    writes = Counter(register for node in nodes for register in node.writes)
    single = {register for register in writes if writes[register] == reads[register] == 1}
    products: dict[VirtualRegister, _Product] = {}
    factors: dict[VirtualRegister, list[VirtualRegister]] = {}  # the products of which each is a factor
    replaced: dict[Node, list[Node]] = {}
    for item, after in zip(function.body, [*function.body[1:], None], strict=True):
        if isinstance(item, Label):
            products.clear()
            factors.clear()
            continue
        if isinstance(after, Node):
            for product in (products[s] for s in item.src[:2] if isinstance(s, VirtualRegister) and s in products):
                if _is_sum(item, after, product):
                    replaced |= {product.low: [], product.high: [], **_fused(function, product, item, after)}
                    break
        for written in item.writes:
            for low in factors.pop(written, ()):
                products.pop(low, None)
        if item.dst is not None and isinstance(after, Node) and _is_product(item, after, single):
            products[item.dst] = _Product(item, after)
            for factor in products[item.dst].factors:
                if isinstance(factor, VirtualRegister):
                    factors.setdefault(factor, []).append(item.dst)
    body: list[Node | Label] = []
    for item in function.body:
        body += replaced.get(item, [item]) if isinstance(item, Node) else [item]
    function.body = body


def _is_product(low: Node, high: Node, single: set[VirtualRegister]) -> bool:
    halves = low.op is high.op is Op.IMUL and high.modifiers.get("high", False) and not low.modifiers.get("high", False)
    return halves and low.src == high.src and low.guard is high.guard is None and {low.dst, high.dst} <= single


def _is_sum(low: Node, high: Node, product: _Product) -> bool:
    adds = low.op is high.op is Op.IADD and low.guard is high.guard is None and low.psrc is None
    carries = low.pdst is not None and high.psrc == low.pdst and not high.psrc_not and high.pdst is None
    uses = all(add.src[:2].count(half.dst) == 1 for add, half in ((low, product.low), (high, product.high)))
    return adds and carries and uses and low.dst not in product.factors  # the second IMAD reads the factors again


def _fused(function: Function, product: _Product, low: Node, high: Node) -> dict[Node, list[Node]]:
    """The replacement of the two additions; a constant factor goes to a register if an addend is constant too."""
    addends = [_other(low, product.low.dst), _other(high, product.high.dst)]
    factors, before = product.factors, []
    if any(isinstance(addend, CONSTANTS) for addend in addends):
        for slot, factor in enumerate(factors):
            if isinstance(factor, CONSTANTS):
                moved = function.new(local=True)
                before.append(Node(Op.MOV, moved, [factor, None, None], line=low.line))
                factors[slot] = moved
    first = Node(Op.IMAD, low.dst, [*factors, addends[0]], pdst=low.pdst, line=low.line)
    second = Node(Op.IMAD, high.dst, [*factors, addends[1]], psrc=high.psrc, line=high.line,
                  modifiers=dict(product.high.modifiers))
    return {low: [*before, first], high: [second]}


def _other(add: Node, operand: VirtualRegister | None) -> Operand:
    """The other operand of an addition."""
    return add.src[1] if add.src[0] == operand else add.src[0]
