"""Random lowered functions for tests of the back end: branches, loops, pairs, guarded writes, beats, pressure."""

from random import Random

from hypothesis import strategies as st

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Cond, DType, Space, Special
from warploom.compiler import ptx
from warploom.compiler.ir import Function, Half, Imm, Label, Node, Param, RegisterClass, VirtualRegister


def empty_function(local_bytes: int = 0) -> Function:
    """A function without a body, of an empty kernel."""
    kernel = ptx.Kernel(name="k", file="k.ptx", line=1, registers={}, parameters=(), variables={}, functions={},
                        base={}, body=[], local_bytes=local_bytes)
    return Function(kernel=kernel, parameters=())


class _Maker:
    """Makes one function of a seed."""

    def __init__(self, seed: int, values: int, predicates: int, blocks: int, length: int) -> None:
        self.random, self.length = Random(seed), length
        self.function = empty_function(self.random.choice([0, 6]))
        self.general: list[VirtualRegister] = []
        for _ in range(values):
            self.general += self.random.choice([lambda: [self.function.new()], self.function.new_pair])()
        self.predicates = [self.function.new(RegisterClass.PREDICATE) for _ in range(predicates)]
        self.labels = [f"L{index}" for index in range(blocks)]

    def make(self) -> Function:
        body = self.function.body
        for label in self.labels:
            body.append(Label(label))
            for _ in range(self.random.randrange(self.length)):
                body += self.random.choices([self.plain, self.beats, self.expansion, self.constant, self.copy],
                                            [8, 1, 1, 3, 3])[0]()
            body += self.random.choices([self.branch, self.jump, list], [4, 1, 3])[0]()
        body.append(Node(Op.EXIT))
        return self.function

    def value(self) -> VirtualRegister:
        return self.random.choice(self.general)

    def guard(self) -> dict:
        if self.random.random() < 0.75:
            return {}
        return {"guard": self.random.choice(self.predicates), "guard_not": self.random.random() < 0.5}

    def operand(self) -> VirtualRegister | Imm | Param | None:
        return self.random.choices([self.value(), Imm(self.random.randrange(1, 9)), Param(8), None], [8, 1, 1, 1])[0]

    def plain(self) -> list[Node]:
        kind, p = self.random.randrange(6), self.random.choice(self.predicates)
        src = [self.value(), self.operand(), self.value()]
        if kind == 0:
            return [Node(Op.ISETP, src=[*src[:2], None], pdst=p, psrc=self.random.choice([None, *self.predicates]),
                         modifiers={"cond": Cond.LT}, **self.guard())]
        if kind == 1:
            address = {"space": Space.GLOBAL, "access": Access.U8, "wide": True}
            load = self.random.random() < 0.5
            return [Node(Op.LD if load else Op.ST, dst=self.value() if load else None, imm=-4, modifiers=address,
                         src=[src[0], src[2], None if load else self.value()], **self.guard())]
        if kind == 2:
            return [Node(Op.PLOP3, pdst=p, modifiers={"lut": 0x6A}, **self.guard(),
                         src=[self.random.choice([None, *self.predicates]) for _ in range(3)])]
        if kind == 3:
            return [Node(Op.SEL, dst=self.value(), src=[*src[:2], None], psrc=p, psrc_not=True)]
        return [Node(Op.IADD if kind == 4 else Op.IMAD, dst=self.value(), src=[*src[:2], src[2] if kind == 5 else None],
                     pdst=self.random.choice([None, p]), **self.guard())]

    def beats(self) -> list[Node]:
        guard, wide = self.guard(), {"dst_type": DType.U64, "wide": True}
        latch = Node(Op.LATCH, src=[self.value() for _ in range(3)], modifiers={"memory": True}, **guard)
        served = Node(Op.ATOM, dst=self.value(), src=[self.value() for _ in range(3)], modifiers=wide, **guard)
        return [latch, served, Node(Op.HIGH, dst=self.value(), modifiers={"memory": True}, **guard)]

    def expansion(self) -> list[Node]:
        """Two nodes of one PTX instruction with a local register between them."""
        local, guard = self.function.new(local=True), self.guard()
        return [Node(Op.IADD, dst=local, src=[self.value(), self.operand(), None], **guard),
                Node(Op.IADD, dst=self.value(), src=[local, self.value(), None], **guard)]

    def constant(self) -> list[Node]:
        if self.random.random() < 0.3:
            return [Node(Op.S2R, dst=self.value(), modifiers={"special": Special.CTAID_X})]
        return [Node(Op.MOV, dst=self.value(), src=[self.random.choice([Imm(7), Param(4), None]), None, None])]

    def copy(self) -> list[Node]:
        first, second = self.value(), self.value()
        if first.half is second.half is Half.LOW and self.random.random() < 0.8:
            high = [self.general[self.general.index(low) + 1] for low in (first, second)]
            return [Node(Op.MOV, dst=d, src=[s, None, None]) for d, s in ((first, second), high)]
        return [Node(Op.MOV, dst=first, src=[second, None, None], **self.guard())]

    def branch(self) -> list[Node]:
        return [Node(Op.BRA, target=self.random.choice(self.labels), guard=self.random.choice(self.predicates))]

    def jump(self) -> list[Node]:
        return [Node(Op.BRA, target=self.random.choice(self.labels))]


def functions(values: int = 40, predicates: int = 12, blocks: int = 12,
              length: int = 12) -> st.SearchStrategy[Function]:
    """Functions with limited numbers of values (singles and pairs), predicates, blocks and nodes of a block."""
    return st.builds(lambda *sizes: _Maker(*sizes).make(), st.integers(0, 2**32 - 1), st.integers(3, values),
                     st.integers(1, predicates), st.integers(1, blocks), st.integers(1, length))
