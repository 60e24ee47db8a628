"""Addresses of variables in their spaces, and contents of module memory when a kernel starts."""

import re
from collections.abc import Iterable, Mapping

from warploom.arch.errors import PtxError
from warploom.arch.memory_map import CONST_WINDOW, GLOBALS_BASE, LOCAL_BYTES, WINDOW_BYTES
from warploom.arch.modifiers import Space
from warploom.arch.program import ModuleVariable
from warploom.compiler import module_reads
from warploom.compiler.initialiser import MAX_IMAGE_BYTES, POINTER_BYTES
from warploom.compiler.ptx import TYPE_BYTES, Kernel, Variable

MODULE_SPACES = {"global": Space.GLOBAL, "const": Space.CONST}
"""Spaces of module variables."""

PRAGMA = '.pragma "warploom: .global variables from {:#x}";'
"""In a PTX file it places the module's `.global` variables elsewhere: modules of one program differ in it."""

WORD_BYTES = 4

LIMITS = {"local": LOCAL_BYTES}
"""Sizes of spaces that are smaller than their window."""


def lay_out(kernel: Kernel, module_variables: Iterable[Variable]) -> None:
    """Give every variable of the kernel its `base`, and fill in sizes and images.

    Module memory holds all of the module's variables in order of declaration, whether this entry uses them or not, so
    that addresses are the same for every entry of a file. Dynamic shared arrays all start where static shared memory
    ends, its size being rounded up to their alignment. Raises `PtxError` (without a file) for variables that do not fit
    and unresolved pointers.
    """
    by_space: dict[str, dict[str, Variable]] = {**_by_space(module_variables), "shared": {}, "local": {}}
    dynamic: dict[str, Variable] = {}
    for name, variable in kernel.variables.items():
        (dynamic if variable.extern else by_space[variable.space])[name] = variable
    kernel.variables = {**by_space["global"], **by_space["const"], **kernel.variables}
    end = {space: _place(kernel.base, variables, kernel.globals_base if space == "global" else 0)
           for space, variables in by_space.items()}
    alignment = max((variable.alignment for variable in dynamic.values()), default=1)
    kernel.shared_bytes = -(-end["shared"] // alignment) * alignment
    kernel.base.update(dict.fromkeys(dynamic, kernel.shared_bytes))
    kernel.local_bytes = end["local"]
    kernel.globals = _image(kernel, by_space["global"], kernel.globals_base, end["global"])
    kernel.constants = _image(kernel, by_space["const"], 0, end["const"])
    kernel.module = _module(kernel, by_space["global"] | by_space["const"])


def globals_base(text: str) -> int:
    """Where the `.global` variables of a module with this text begin."""
    found = re.search(re.escape(PRAGMA).replace(re.escape("{:#x}"), "(0x[0-9a-f]+)"), text)
    return int(found[1], 16) if found else GLOBALS_BASE


def addresses(variables: Iterable[Variable], start: int) -> tuple[dict[str, int], int]:
    """Where the variables of a module are in their spaces, those in `.global` from `start` on, and the end of these.
    Raises `PtxError` (without a file) for variables that do not fit."""
    base: dict[str, int] = {}
    by_space = _by_space(variables)
    _place(base, by_space["const"], 0)
    return base, _place(base, by_space["global"], start)


def _by_space(variables: Iterable[Variable]) -> dict[str, dict[str, Variable]]:
    """Those that module memory holds, by name."""
    found: dict[str, dict[str, Variable]] = {space: {} for space in MODULE_SPACES}
    for variable in variables:
        if variable.space in MODULE_SPACES and not variable.extern and variable.type in TYPE_BYTES:
            found[variable.space][variable.name] = variable
    return found


def _module(kernel: Kernel, variables: dict[str, Variable]) -> tuple[ModuleVariable, ...]:
    """The variables in module memory by their names in the kernel. Only the module's own can be `unset`: the host
    cannot set those that functions declare."""
    unset = module_reads.unset(kernel, [variable for name, variable in variables.items() if name == variable.name])
    start = {"global": kernel.globals_base, "const": 0}
    return tuple(ModuleVariable(name, MODULE_SPACES[variable.space], kernel.base[name] - start[variable.space],
                                variable.size, name in unset) for name, variable in variables.items())


def _place(base: dict[str, int], variables: dict[str, Variable], start: int) -> int:
    """Give the variables of one space consecutive aligned places in `base`, from `start`. Returns their end, rounded up
    to a whole word: libcu++ accesses the word around a variable of 8 or 16 bits."""
    end = start
    for name, variable in variables.items():
        base[name] = -(-end // variable.alignment) * variable.alignment
        end = base[name] + variable.size
        limit = LIMITS.get(variable.space, WINDOW_BYTES)
        if end - start > limit:
            place = f"variable '{variable.name}' does not fit .{variable.space} memory of {limit} bytes"
            raise PtxError(place, line=variable.line)
    return -(-end // WORD_BYTES) * WORD_BYTES


def _image(kernel: Kernel, variables: dict[str, Variable], start: int, end: int) -> bytes:
    """The bytes of one space from `start` to `end`."""
    if end - start > MAX_IMAGE_BYTES:
        raise PtxError(f"the module's variables take {end - start} bytes, and {MAX_IMAGE_BYTES} is the limit")
    image = bytearray(end - start)
    for name, variable in variables.items():
        offset = kernel.base[name] - start
        initial = initialised(variable, kernel.functions, kernel.variables, kernel.base)
        image[offset : offset + len(initial)] = initial
    return bytes(image)


def initialised(variable: Variable, functions: Mapping[str, int], variables: Mapping[str, Variable],
                base: Mapping[str, int]) -> bytes:
    """The initial bytes of a variable, with the addresses of functions and of variables, which are at `base` in their
    spaces. Raises `PtxError` (without a file) for an address of anything else."""
    image = bytearray(variable.initial)
    for position, symbol, generic, part in variable.pointers:
        if symbol.name in functions:
            address = functions[symbol.name]
        else:
            target = variables.get(symbol.name)
            if not target or target.space not in MODULE_SPACES or symbol.name not in base:
                message = f"the initialiser of '{variable.name}' refers to '{symbol.name}', which is not defined here"
                raise PtxError(message, line=variable.line)
            window = CONST_WINDOW if generic and target.space == "const" else 0
            address = window + base[symbol.name] + symbol.offset
        whole = (address % (1 << 64)).to_bytes(POINTER_BYTES, "little")
        image[position : position + len(part)] = whole[part.start : part.stop]
    return bytes(image)
