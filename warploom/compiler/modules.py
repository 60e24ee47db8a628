"""Several PTX files as one: which of their names mean the same, and which definition counts.

A name that is `.visible`, `.weak`, `.common` or `.extern`, and that of a kernel, means the same in all files. Any other
name is its file's own, and gets a suffix if it means something else in another file.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warploom.arch.errors import PtxError
from warploom.arch.program import Files, place
from warploom.compiler import ptx
from warploom.compiler.scopes import Meaning, Scope

RANKS = {"weak": 1, "common": 2}
"""Definitions that yield to others: the later the rank, the sooner."""

Item = ptx.Function | ptx.Variable


@dataclass(frozen=True)
class Symbols:
    """Functions and variables by unique name, with the scope of each function's file. Of names that no file defines for
    the others, `hidden` has the places where one defines its own."""

    functions: dict[str, ptx.Function]
    variables: dict[str, ptx.Variable]
    scopes: dict[str, Scope]
    hidden: dict[str, str]
    files: int


def merge(modules: Sequence[ptx.Module]) -> Symbols:
    """The names of `modules`. Raises `PtxError` (without a file) for names that are defined twice, or declared
    otherwise than they are defined."""
    files = [(module.file, module.before) for module in modules]
    declared = [_declared(module) for module in modules]
    common: list[Item] = [item for items in declared for item in items.values() if not _is_own(item)]
    shared = _shared(common, files)
    own = Counter(name for items in declared for name, item in items.items() if _is_own(item))
    renamed = [
        {name: f"{name}@{number}" if _is_own(item) and (own[name] > 1 or name in shared) else name
         for name, item in items.items()} for number, items in enumerate(declared, 1)
    ]
    found: dict[str, Item] = {}
    homes: dict[str, Scope] = {}
    scopes = [Scope() for _ in modules]
    for items, names, scope in zip(declared, renamed, scopes, strict=True):
        for name, item in items.items():
            if _is_own(item) or shared[name] is item:
                found[names[name]], homes[names[name]] = _named(item, names), scope
    for items, names, scope in zip(declared, renamed, scopes, strict=True):
        for name, item in items.items():
            scope.bind(name, _meaning(found[names[name]]), item.line)
    functions = {name: item for name, item in found.items() if isinstance(item, ptx.Function)}
    variables = {name: item for name, item in found.items() if isinstance(item, ptx.Variable)}
    hidden = {name: _at(item, files) for items in declared for name, item in items.items()
              if _is_own(item) and name in shared}
    return Symbols(functions, variables, {name: homes[name] for name in functions}, hidden, len(modules))


def _declared(module: ptx.Module) -> dict[str, Item]:
    """The functions and variables of a file by name; a definition hides its declarations."""
    found: dict[str, Item] = {}
    items: list[Item] = [*module.functions, *module.variables]
    for item in items:
        known = found.get(item.name)
        if known and type(known) is not type(item):
            raise PtxError(f"'{item.name}' is declared twice in one scope; remove or rename one", line=item.line)
        if known and known.is_defined and item.is_defined:
            raise PtxError(f"{_kind(item)} '{item.name}' is defined twice", line=item.line)
        if not known or not known.is_defined:
            found[item.name] = item
    return found


def _is_own(item: Item) -> bool:
    """Whether it is its file's own."""
    return item.is_defined and not item.linkage and not (isinstance(item, ptx.Function) and item.is_entry)


def _shared(items: Sequence[Item], files: Files) -> dict[str, Item]:
    """The definition of each name that all files share, or a declaration if there is none."""
    found: dict[str, Item] = {}
    for item in sorted(items, key=_order):
        known = found.setdefault(item.name, item)
        if known is item:
            continue
        if item.is_defined and not RANKS.get(item.linkage):  # the known one is first in this order: no rank either
            raise PtxError(f"{_kind(item)} '{item.name}' is defined twice: also at {_at(known, files)}", line=item.line)
        if not _agree(item, known):
            message = f"'{item.name}' is {_shape(item)} here, and {_shape(known)} at {_at(known, files)}"
            raise PtxError(message, line=item.line)
    return found


def _agree(item: Item, other: Item) -> bool:
    """Whether two declarations may be of the same thing; an array without a size is of any."""
    if isinstance(item, ptx.Variable) and isinstance(other, ptx.Variable) and item.space == other.space:
        sizes = {item.size, other.size}
        return len(sizes) == 1 or 0 in sizes or item.linkage == other.linkage == "common"
    return _shape(item) == _shape(other)


def _order(item: Item) -> tuple[bool, int, int]:
    """A smaller one counts before a larger one: of common variables the one with most bytes, of dynamic shared memory,
    which has declarations only, the one with the largest alignment."""
    bytes_ = 0
    if isinstance(item, ptx.Variable) and item.linkage == "common":
        bytes_ = item.size
    elif isinstance(item, ptx.Variable) and item.space == "shared":
        bytes_ = item.alignment
    return not item.is_defined, RANKS.get(item.linkage, 0), -bytes_


def _kind(item: Item) -> str:
    return "variable" if isinstance(item, ptx.Variable) else "function"


def _shape(item: Item) -> str:
    """What has to be the same in all declarations, in words."""
    if isinstance(item, ptx.Variable):
        return f"a .{item.space} variable of {item.size} bytes"
    results, parameters = (", ".join(str(variable.size) for variable in group) or "none"
                           for group in (item.returns, item.parameters))
    return f"a function with results ({results}) and parameters ({parameters}) in bytes"


def _at(item: Item, files: Files) -> str:
    """The place of a declaration."""
    file, line = place(files, item.line)
    return f"{file}:{line}"


def _named(item: Item, names: Mapping[str, str]) -> Item:
    """A declaration with unique names, also in its initialiser."""
    if isinstance(item, ptx.Function):
        return replace(item, name=names[item.name])
    return replace(pointing(item, names), name=names[item.name])


def pointing(variable: ptx.Variable, names: Mapping[str, str]) -> ptx.Variable:
    """A variable with unique names in its initialiser."""
    pointers = tuple((position, ptx.Symbol(names.get(symbol.name, symbol.name), symbol.offset), generic, part)
                     for position, symbol, generic, part in variable.pointers)
    return replace(variable, pointers=pointers)


def _meaning(item: Item) -> Meaning:
    return Meaning(_kind(item), item.name, variable=item if isinstance(item, ptx.Variable) else None)
