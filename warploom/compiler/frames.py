"""Variables of recursive functions: each call has its own, on the stack.

The stack is a variable in local memory, in which a register points to the frame of the function that is running. A
frame begins with the function's variables, at the same offsets in every copy of the function: first those in local
memory, then parameters that are not in registers. Behind them is what `warploom.compiler.stack` saves around calls.
"""

from warploom.arch.memory_map import LOCAL_BYTES
from warploom.compiler import ptx
from warploom.compiler.recursion import NUMBER_BYTES
from warploom.compiler.symbols import STACK


def lay_out(kernel: ptx.Kernel, stack: int) -> None:
    """Add the stack, if the kernel has recursive functions, and put their variables into their frames. It has `stack`
    bytes, or what other variables leave of local memory."""
    if not kernel.calls:
        return
    activations = dict.fromkeys(call.callee for call in kernel.calls)
    alignment = NUMBER_BYTES
    for activation in activations:
        own = [variable for variable in activation.variables if variable.name in kernel.variables]
        for variable in sorted(own, key=lambda variable: variable.space != "local"):
            alignment = max(alignment, variable.alignment)
            kernel.frames[variable.name] = -(-activation.size // variable.alignment) * variable.alignment
            activation.size = kernel.frames[variable.name] + variable.size
    for name in kernel.frames:
        del kernel.variables[name]
    size = max(1, min(stack, LOCAL_BYTES - _local_bytes(kernel, alignment)))
    kernel.variables[STACK] = ptx.Variable("local", "b8", STACK, kernel.line, alignment, (size,))


def _local_bytes(kernel: ptx.Kernel, alignment: int) -> int:
    """Bytes that the kernel's local variables take at most, in front of one of this alignment."""
    local = [variable for variable in kernel.variables.values() if variable.space == "local"]
    unit = max([alignment, *(variable.alignment for variable in local)])
    return sum(-(-variable.size // unit) * unit for variable in local)
