"""The meaning of names: nested scopes of registers, labels, variables and functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from warploom.arch.errors import PtxError, nearest
from warploom.compiler import ptx

MAX_DIGITS = 10
"""Digits of a register's number."""

SPECIAL_REGISTER = re.compile(
    r"%((tid|ntid|ctaid|nctaid)(\.[xyz])?|laneid|warpid|nwarpid|smid|nsmid|gridid|lanemask_(eq|le|lt|ge|gt)|clock(64|_hi)?"
    r"|globaltimer(_lo|_hi)?|(dynamic|total|aggr)_smem_size|envreg\d+|pm\d+(_64)?|reserved_smem_offset_\w+"
    r"|is_explicit_cluster|n?clusterid(\.[xyz])?|cluster_n?ctaid(\.[xyz])?|cluster_n?ctarank|current_graph_exec)"
)


@dataclass(frozen=True)
class Meaning:
    """The meaning of a name: `kind` is ``register``, ``label``, ``table`` (of labels), ``variable``, ``parameter`` (of
    the kernel), ``function`` or ``choice``; `name` is unique in the kernel; `type` is that of a register, `targets` are
    the unique names in a table."""

    kind: str
    name: str
    type: str = ""
    variable: ptx.Variable | None = None
    targets: tuple[str, ...] = ()
    choice: ptx.Choice | None = None


class Scope:
    """One `{ }` block, or the module.

    Names declared here get `suffix` appended, which makes them unique; variables in memory get `variable_suffix`, which
    is the same in every inlined copy of a function, as is the variable.
    """

    def __init__(
        self, parent: "Scope | None" = None, *, suffix: str = "", variable_suffix: str = "", depth: int = 0
    ) -> None:
        self.parent, self.suffix, self.variable_suffix, self.depth = parent, suffix, variable_suffix, depth
        self.meanings: dict[str, Meaning] = {}
        self.ranges: dict[str, tuple[int, str]] = {}  # %r of %r<6>: count, type
        self._numbered: dict[str, Meaning] = {}  # registers of ranges that have been looked up

    def declare_labels(self, block: ptx.Block) -> None:
        """Declare the labels of `block`, without nested blocks: they hold in all of it, and other names from where they
        are declared. This and the other declarations raise `PtxError` for a second one."""
        labels = [statement for statement in block.body if isinstance(statement, ptx.Label)]
        for label in labels:
            kind = "table" if label.targets else "label"
            self.bind(label.name, Meaning(kind, label.name + self.suffix), label.line)
        for choice in block.body:
            if isinstance(choice, ptx.Choice):
                self.bind(choice.name, Meaning("choice", choice.name, choice=choice), choice.line)
        for table in labels:
            if table.targets:
                targets = tuple(self._target(name, table.line) for name in table.names)
                self.meanings[table.name] = replace(self.meanings[table.name], targets=targets)

    def _target(self, name: str, line: int) -> str:
        """The unique name of a label in a table."""
        meaning = self.find(name)
        if not meaning:
            raise PtxError(self.undeclared(name, "label"), line=line)
        if meaning.kind != "label":
            raise PtxError(f"a table needs labels, and '{name}' is a {meaning.kind}", line=line)
        return meaning.name

    def declare_variable(self, variable: ptx.Variable) -> None:
        """Declare a variable."""
        unique = variable.name + (self.suffix or "@" if variable.space == "param" else self.variable_suffix)
        self.bind(variable.name, Meaning("variable", unique, variable=variable), variable.line)

    def declare_registers(self, statement: ptx.Registers) -> None:
        """Declare the registers of a statement."""
        for name, count in statement.names:
            if not count:
                self.bind(name, Meaning("register", name + self.suffix, statement.type), statement.line)
                continue
            if name in self.ranges:
                raise PtxError(f"'{name}<{count}>' is declared twice in one scope; remove one", line=statement.line)
            self.ranges[name] = (count, statement.type)

    def bind(self, name: str, meaning: Meaning, line: int) -> None:
        """Give `name` a meaning here. Raises `PtxError` (without a file) if it has one."""
        if name in self.meanings or self._in_range(name):
            raise PtxError(f"'{name}' is declared twice in one scope; remove or rename one", line=line)
        self.meanings[name] = meaning

    def find(self, name: str) -> Meaning | None:
        """The innermost meaning of `name`; None if it has none."""
        scope: Scope | None = self
        while scope:
            meaning = scope.meanings.get(name) or scope._in_range(name)
            if meaning:
                return meaning
            scope = scope.parent
        return None

    def undeclared(self, name: str, kind: str) -> str:
        """A message for an undeclared `name`, with the nearest declared ones."""
        message = f"{kind} '{name}' is not declared"
        known: list[str] = []
        scope: Scope | None = self
        while scope:
            for prefix, _ in _splits(name):
                if prefix in scope.ranges:
                    return f"{message}; '.reg {prefix}<{scope.ranges[prefix][0]}>' ends before it"
            known += [*scope.meanings, *(f"{prefix}0" for prefix in scope.ranges)]
            scope = scope.parent
        return message + nearest(name, known)

    def _in_range(self, name: str) -> Meaning | None:
        if name not in self._numbered and self.ranges:
            for prefix, number in _splits(name):
                count, type_ = self.ranges.get(prefix, (0, ""))
                if number < count:
                    self._numbered[name] = Meaning("register", name + self.suffix, type_)
                    break
        return self._numbered.get(name)


def parameter_symbol(name: str) -> str:
    """The unique name of a kernel parameter: a variable of the module may have the same name."""
    return f"{name}@.param"


def _splits(name: str) -> Iterator[tuple[str, int]]:
    """The ways to read a name as prefix and number: ``%r12`` as (``%r``, 12) and (``%r1``, 2)."""
    start = len(name.rstrip("0123456789"))
    for middle in range(max(start, len(name) - MAX_DIGITS), len(name)):
        if name[middle] != "0" or middle == len(name) - 1:
            yield name[:middle], int(name[middle:])
