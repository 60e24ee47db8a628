"""Links a parsed module to one flat `ptx.Kernel`: the last step in which PTX has scopes, functions and calls."""

from warploom.arch.errors import PtxError, listed
from warploom.compiler import callparams, images, ptx
from warploom.compiler.inline import Inliner
from warploom.compiler.scopes import Meaning, Scope


def link(module: ptx.Module, entry: str | None = None) -> ptx.Kernel:
    """Flatten `entry` of `module`; None stands for the only entry.

    Device functions are inlined, with `ret` a branch to the end of the copy; `warploom.compiler.runtime` has the
    functions that `printf` and failed assertions call. Raises `PtxError` for a missing entry, an undeclared or doubly
    declared name, and for calls that cannot be inlined: recursion, functions defined elsewhere, and the device heap.
    """
    try:
        return _link(module, entry)
    except PtxError as error:
        raise PtxError(error.message, file=module.file, line=error.line, column=error.column) from None


def _link(module: ptx.Module, name: str | None) -> ptx.Kernel:
    functions = functions_of(module)
    variables = _variables(module)
    entry = _entry(functions, name)
    scope = Scope()
    for function in functions.values():
        scope.bind(function.name, Meaning("function", function.name), function.line)
    for variable in variables.values():
        scope.bind(variable.name, Meaning("variable", variable.name, variable=variable), variable.line)
    inliner = Inliner(functions, scope, module.text)
    inliner.run(entry)
    kernel = ptx.Kernel(
        entry.name,
        module.file,
        entry.line,
        inliner.registers,
        entry.parameters,
        inliner.variables,
        functions=inliner.addresses,
        base={},
        body=inliner.body,
        max_threads=entry.max_threads,
        block=entry.block,
        stops=tuple(inliner.stops),
    )
    callparams.resolve(kernel, inliner.call_parameters)
    images.lay_out(kernel, variables.values())
    lines = module.text.split("\n")
    used = dict.fromkeys(item.line for item in kernel.body)  # once each: one line may contain the whole kernel
    kernel.sources = {line: lines[line - 1].strip() for line in used if 0 < line <= len(lines)}
    return kernel


def functions_of(module: ptx.Module) -> dict[str, ptx.Function]:
    """Functions by name; a definition hides its prototypes."""
    functions: dict[str, ptx.Function] = {}
    for function in module.functions:
        known = functions.get(function.name)
        if known and known.body and function.body:
            raise PtxError(f"function '{function.name}' is defined twice", line=function.line)
        if not known or not known.body:
            functions[function.name] = function
    return functions


def _variables(module: ptx.Module) -> dict[str, ptx.Variable]:
    """The module's variables by name; a definition hides extern declarations."""
    variables: dict[str, ptx.Variable] = {}
    for variable in module.variables:
        known = variables.get(variable.name)
        if known and not known.extern and not variable.extern:
            raise PtxError(f"variable '{variable.name}' is defined twice", line=variable.line)
        if not known or known.extern:
            variables[variable.name] = variable
    return variables


def _entry(functions: dict[str, ptx.Function], name: str | None) -> ptx.Function:
    entries = {function.name: function for function in functions.values() if function.is_entry and function.body}
    names = listed(entries)
    if not entries:
        raise PtxError("has no kernel (.entry with a body); compile CUDA with nvcc -ptx")
    if name is None and len(entries) != 1:
        raise PtxError(f"name the entry: the file has {len(entries)} ({names})")
    if name is not None and name not in entries:
        raise PtxError(f"there is no entry '{name}'; entries: {names}")
    return entries[name] if name else next(iter(entries.values()))
