"""Names of values: special registers, variables, parameters."""

from warploom.arch.memory_map import GRID_BARRIER
from warploom.arch.modifiers import Space, Special
from warploom.arch.program import Parameter
from warploom.compiler import ptx
from warploom.compiler.ir import Function, VirtualRegister

SPACES = {"global": Space.GLOBAL, "shared": Space.SHARED, "local": Space.LOCAL, "const": Space.CONST,
          "param": Space.PARAM}
"""State spaces by their PTX names."""

SPECIALS: dict[str, tuple[Special, ...]] = {
    **{f"%{name}.{axis}": (Special[f"{name}_{axis}".upper()],)
       for name in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz"},
    **{f"%{name}": (Special[name.upper()],)
       for name in ("laneid", "warpid", "nwarpid", "smid", "nsmid", "lanemask_eq", "lanemask_le", "lanemask_lt",
                    "lanemask_ge", "lanemask_gt", "globaltimer_lo", "globaltimer_hi", "clock_hi")},
    "%clock": (Special.CLOCK_LO,),
    "%clock64": (Special.CLOCK_LO, Special.CLOCK_HI),
    "%globaltimer": (Special.GLOBALTIMER_LO, Special.GLOBALTIMER_HI),
    "%gridid": (Special.GRIDID_LO, Special.GRIDID_HI),
    "%dynamic_smem_size": (Special.DYNAMIC_SMEM,),
    "%total_smem_size": (Special.TOTAL_SMEM,),
}
"""Special registers by their PTX names, as words (low first)."""


GRID_BARRIER_WORDS = {"%envreg2": GRID_BARRIER - 4, "%envreg1": 0}
"""The words of the address of what cooperative groups need to synchronise a grid (`grid.sync`)."""


STACK = "(stack)"
"""The name of the stack, a variable in local memory, and of the register that points into it: no PTX has it."""


def as_written(name: str) -> str:
    """A name as in the PTX, without the suffix that made it unique."""
    return name.partition("@")[0]


def layout_parameters(kernel: ptx.Kernel) -> tuple[Parameter, ...]:
    """The kernel's parameters at their naturally aligned offsets in the parameter bank."""
    result, offset = [], 0
    for variable in kernel.parameters:
        offset = -(-offset // variable.alignment) * variable.alignment
        result.append(Parameter(variable.name, variable.type, offset, variable.size))
        offset += variable.size
    return tuple(result)


def space_of(function: Function, symbol: ptx.Symbol) -> Space | None:
    """The state space of a variable or parameter; None for an unknown name."""
    if symbol.name in function.kernel.frames:
        return Space.LOCAL
    if symbol.name in function.kernel.variables:
        return SPACES[function.kernel.variables[symbol.name].space]
    return Space.PARAM if function.parameter(symbol.name) else None


def frame_of(function: Function, symbol: ptx.Symbol) -> VirtualRegister | None:
    """The register that points to the frame of a variable, if it has a place in one."""
    return function.names[STACK][0] if symbol.name in function.kernel.frames else None


def address_of(function: Function, symbol: ptx.Symbol) -> int | None:
    """Address of a function, or of a variable or parameter in its space with the offset, relative to `frame_of` if
    there is one; None for an unknown name."""
    if symbol.name in function.kernel.frames:
        return function.kernel.frames[symbol.name] + symbol.offset
    if symbol.name in function.kernel.functions:
        return function.kernel.functions[symbol.name]
    if symbol.name in function.kernel.base:
        return function.kernel.base[symbol.name] + symbol.offset
    found = function.parameter(symbol.name)
    return found.offset + symbol.offset if found else None
