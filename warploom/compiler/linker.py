"""Links parsed modules to one flat `ptx.Kernel`: the last step in which PTX has files, scopes, functions and calls."""

from collections.abc import Sequence

from warploom.arch.errors import PtxError, listed
from warploom.arch.memory_map import STACK_BYTES
from warploom.compiler import callparams, frames, images, ptx
from warploom.compiler.inline import Inliner
from warploom.compiler.modules import Symbols, merge
from warploom.compiler.recursion import Components, Recursion


def link(modules: ptx.Module | Sequence[ptx.Module], entry: str | None = None,
         stack: int = STACK_BYTES) -> ptx.Kernel:
    """Flatten `entry` of one or several modules; None stands for the only entry.

    Device functions are inlined, with `ret` a branch to the end of the copy; `warploom.compiler.runtime` has the
    functions that `printf` and failed assertions call. Raises `PtxError` for a missing entry, an undeclared or doubly
    declared name, and for calls of functions that are not defined, and of the device heap.
    """
    modules = [modules] if isinstance(modules, ptx.Module) else modules
    file = ", ".join(module.file for module in modules)
    try:
        return _link(modules, file, entry, stack)
    except PtxError as error:
        raise PtxError(error.message, file=file, line=error.line, column=error.column) from None


def _link(modules: Sequence[ptx.Module], file: str, name: str | None, stack: int) -> ptx.Kernel:
    symbols = merge(modules)
    entry = _entry(symbols, name)
    text = "\n".join(module.text for module in modules)
    inliner = _flattened(entry, symbols, text)
    kernel = ptx.Kernel(
        entry.name,
        file,
        entry.line,
        inliner.names.registers,
        entry.parameters,
        inliner.names.variables,
        functions=inliner.addresses,
        base={},
        globals_base=images.globals_base(text),
        body=inliner.body,
        max_threads=entry.max_threads,
        block=entry.block,
        stops=tuple(inliner.stops),
        grid_barrier=inliner.names.grid_barrier,
        files=tuple((module.file, module.before) for module in modules) if len(modules) > 1 else (),
        calls=inliner.regions.calls,
    )
    callparams.resolve(kernel, inliner.names.call_parameters)
    frames.lay_out(kernel, stack)
    images.lay_out(kernel, symbols.variables.values())
    return kernel


def _flattened(entry: ptx.Function, symbols: Symbols, text: str) -> Inliner:
    """The entry, flat. It begins again with every circle of functions that is found."""
    components = Components()
    while True:
        inliner = Inliner(symbols, text, components)
        try:
            inliner.run(entry)
        except Recursion as found:
            components.join(found.functions)
        else:
            return inliner


def _entry(symbols: Symbols, name: str | None) -> ptx.Function:
    entries = {name: function for name, function in symbols.functions.items() if function.is_entry and function.body}
    names, has = listed(entries), "the file has" if symbols.files == 1 else "the files have"
    if not entries:
        raise PtxError("has no kernel (.entry with a body); compile CUDA with nvcc -ptx")
    if name is None and len(entries) != 1:
        raise PtxError(f"name the entry: {has} {len(entries)} ({names})")
    if name is not None and name not in entries:
        raise PtxError(f"there is no entry '{name}'; entries: {names}")
    return entries[name] if name else next(iter(entries.values()))
