"""Where the values of registers come from through plain copies, for operands that must be constants."""

from warploom.arch.isa import Op
from warploom.compiler.emitter import known
from warploom.compiler.ir import Function, Node, Operand, VirtualRegister


class Origins:
    """The copies of a function, as they are when this is made."""

    def __init__(self, function: Function) -> None:
        self._makers: dict[VirtualRegister, list[Node]] = {}
        for node in function.body:
            if isinstance(node, Node):
                for register in node.writes:
                    self._makers.setdefault(register, []).append(node)

    def constant(self, operand: Operand) -> int | None:
        """The value at the start of a chain of copies, each the only write of its register; None if it is not
        constant."""
        passed = set[VirtualRegister]()
        while isinstance(operand, VirtualRegister) and operand not in passed:
            passed.add(operand)
            made = self._makers.get(operand, ())
            if len(made) == 1 and made[0].op is Op.MOV:
                operand = made[0].src[0]
        return known(operand)
