"""Variables of recursive functions: each call has its own, on the stack.

The stack is a variable in local memory, in which a register points to the frame of the function that is running. A
frame begins with the function's variables, at the same offsets in every copy of the function: first those in local
memory, then parameters that are not in registers. Behind them is what `warploom.compiler.stack` saves around calls.
"""

from collections.abc import Iterator
from dataclasses import replace

from warploom.arch.memory_map import LOCAL_BYTES
from warploom.compiler import ptx
from warploom.compiler.recursion import NUMBER_BYTES, STACK


def lay_out(kernel: ptx.Kernel, stack: int) -> None:
    """Add the stack, if the kernel has recursive functions, and put their variables into their frames. It has `stack`
    bytes, or what other variables leave of local memory."""
    if not kernel.calls:
        return
    activations = dict.fromkeys(call.callee for call in kernel.calls)
    places: dict[str, int] = {}
    alignment = NUMBER_BYTES
    for activation in activations:
        own = [variable for variable in activation.variables if variable.name in kernel.variables]
        for variable in sorted(own, key=lambda variable: variable.space != "local"):
            alignment = max(alignment, variable.alignment)
            places[variable.name] = -(-activation.size // variable.alignment) * variable.alignment
            activation.size = places[variable.name] + variable.size
    kernel.body = [made for item in kernel.body for made in _placed(item, places, kernel)]
    for name in places:
        del kernel.variables[name]
    size = max(1, min(stack, LOCAL_BYTES - _local_bytes(kernel, alignment)))
    kernel.variables[STACK] = ptx.Variable("local", "b8", STACK, kernel.line, alignment, (size,))


def _local_bytes(kernel: ptx.Kernel, alignment: int) -> int:
    """Bytes that the kernel's local variables take at most, in front of one of this alignment."""
    local = [variable for variable in kernel.variables.values() if variable.space == "local"]
    unit = max([alignment, *(variable.alignment for variable in local)])
    return sum(-(-variable.size // unit) * unit for variable in local)


def _placed(item: ptx.Instruction | ptx.Label, places: dict[str, int],
            kernel: ptx.Kernel) -> Iterator[ptx.Instruction | ptx.Label]:
    """An item of the body, with what computes the addresses of variables in the frame before it."""
    if isinstance(item, ptx.Label) or not any(_named(operand) in places for operand in item.operands):
        yield item
        return
    operands: list[ptx.Operand] = []
    modifiers = item.modifiers
    for operand in item.operands:
        name = _named(operand)
        if name not in places:
            operands.append(operand)
        elif isinstance(operand, ptx.Address):
            modifiers = modifiers if "local" in modifiers else ("local", *modifiers)
            operands.append(ptx.Address(ptx.Register(STACK), places[name] + operand.offset))
        else:
            assert isinstance(operand, ptx.Symbol)
            yield from _address(item, name, places[name] + operand.offset, kernel)
            is_word = ptx.TYPE_BYTES.get(item.modifiers[-1]) == NUMBER_BYTES
            operands.append(ptx.Register(_low(name) if is_word else _whole(name)))
    yield replace(item, operands=tuple(operands), modifiers=modifiers, written=item.written or item.modifiers)


def _address(at: ptx.Instruction, name: str, offset: int, kernel: ptx.Kernel) -> Iterator[ptx.Instruction]:
    """What computes an address, in 32 and in 64 bits."""
    kernel.registers |= {_low(name): "u32", _whole(name): "u64", STACK: "u32"}
    low, plain = ptx.Register(_low(name)), replace(at, guard=None, written=None)
    yield replace(plain, opcode="add", modifiers=("u32",),
                  operands=(low, ptx.Register(STACK), ptx.Immediate("int", offset)))
    yield replace(plain, opcode="cvt", modifiers=("u64", "u32"), operands=(ptx.Register(_whole(name)), low))


def _low(name: str) -> str:
    return f"{name}@address"


def _whole(name: str) -> str:
    return f"{name}@address64"


def _named(operand: ptx.Operand) -> str:
    """The variable whose address is an operand, or in it."""
    symbol = operand.base if isinstance(operand, ptx.Address) else operand
    return symbol.name if isinstance(symbol, ptx.Symbol) else ""
