"""Makes Yosys's SystemVerilog readable: names for intermediate values, fields by name, ports with their layouts.

Only names, comments and line breaks change: each declared name of a module gets one new, unique name, and bits that are
equal to a field's wire are read by that wire's name. `docs/verilog.md` describes the names.
"""

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter

from warploom.rtl.names import choose, is_unnamed, port_hints
from warploom.rtl.statements import ASSIGNMENT, MODULE, NAMES, SLICE, Line, Statement, plain, sort, statements

Fields = Mapping[str, list[tuple[str, int, int]]]
"""By signal: the path, the most and the least significant bit of each of its fields."""

WIDTH = 120

_ZEROS = re.compile(r"'h0{8,}(?=[0-9a-f])")
_REPEATED = re.compile(r"(?<=[{,] )([\w\[\]':]+)((?:, \1){3,})(?=,| })")


def fields(rtlil: str) -> dict[str, Fields]:
    """The fields of the signals of each module, as Amaranth writes them for structs and arrays."""
    found: dict[str, Fields] = {}
    inside: defaultdict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for line in rtlil.splitlines():
        if line.startswith("module "):
            found[line.split("\\")[1]] = inside = defaultdict(list)
        elif match := re.match(r" *connect \\(\S+) \\(\S+) \[(\d+)(?::(\d+))?\]$", line):
            path, signal, high, low = match.groups()
            if path.startswith(signal) and path[len(signal):][:1] in (".", "["):
                inside[signal].append((path[len(signal):].lstrip("."), int(high), int(low or high)))
    return found


def bits(high: int, low: int) -> str:
    """``[high:low]``, or ``[bit]``."""
    return f"[{high}]" if high == low else f"[{high}:{low}]"


def readable(text: str, layouts: Mapping[str, Fields]) -> str:
    """The text of all modules; `layouts` are their `fields`."""
    modules = {match[1]: _Module(match, layouts.get(match[1], {})) for match in MODULE.finditer(text)}
    outputs = {name: module.outputs() for name, module in modules.items()}
    users: dict[str, set[str]] = {name: set() for name in modules}
    for name, module in modules.items():
        for inside in module.prepare(outputs):
            users[inside].add(name)
    names: dict[str, dict[str, str]] = {}
    hints: dict[str, dict[str, str]] = {name: {} for name in modules}
    for name in TopologicalSorter(users).static_order():  # users first
        names[name] = modules[name].choose(hints[name])
        for statement in modules[name].instances():
            hints[statement.module] |= port_hints(statement, names[name])
    return "\n".join(module.text(names) for module in modules.values())


def _fold(line: str) -> str:
    """A long line as several."""
    line = _REPEATED.sub(lambda match: f"{{{match[2].count(',') + 1}{{{match[1]}}}}}", _ZEROS.sub("'h", line))
    if len(line) <= WIDTH or '"' in line:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line.strip(), WIDTH, initial_indent=indent, subsequent_indent=indent + "    ",
                         break_long_words=False, break_on_hyphens=False)


def _lines(statement: Statement, own: Mapping[str, str], ports: Mapping[str, str]) -> Iterator[str]:
    """A statement with its `own` new names and those of the `ports` of its module."""
    yield from statement.attributes
    texts = (NAMES.sub(lambda match: own.get(match[0], match[0]), line.text) for line in statement.lines)
    if not statement.instance:
        yield from map(_fold, texts)
        return
    yield f"  {statement.module} {own[statement.instance]} ("
    for line, text in zip(statement.lines, texts, strict=True):
        yield _fold(f"    .{ports[line.port]}({text}{line.end}")
    yield "  );"


class _Module:
    """One module: its declarations and its other lines."""

    def __init__(self, match: re.Match[str], layouts: Fields) -> None:
        self.name, self.layouts = match[1], layouts
        self.ports = match[2].replace("\n", "").split(", ")
        self.declared, self.lines = sort(match[3])
        self.body: list[Statement] = []

    def outputs(self) -> set[str]:
        """Names of the output ports."""
        return {name for name, what in self.declared.items() if what.direction == "output"}

    def prepare(self, outputs: Mapping[str, set[str]]) -> set[str]:
        """Parse the lines; `outputs` are the output ports of all modules. Returns the modules of its instances."""
        self.body = statements(self.lines, outputs)
        self._merge_aliases()
        self._use_fields()
        self._leave_out_unread()
        return {statement.module for statement in self.instances()}

    def instances(self) -> list[Statement]:
        """The statements that are instances."""
        return [statement for statement in self.body if statement.instance]

    def choose(self, hints: Mapping[str, str]) -> dict[str, str]:
        """A new name for each name."""
        return choose(self.declared, self.body, hints)

    def text(self, names: Mapping[str, Mapping[str, str]]) -> str:
        """The module with the names chosen for all modules."""
        own = names[self.name]
        ports = ",\n".join(self._declaration(name, own) for name in self.ports)
        inside = [f"{self._declaration(name, own)};" for name, what in self.declared.items() if not what.direction]
        lines = [line for statement in self.body for line in _lines(statement, own, names.get(statement.module, {}))]
        return "\n".join([f"module {self.name} (", ports, ");", *inside, "", *lines, "endmodule", ""])

    def _merge_aliases(self) -> None:
        """Merge two equal signals if only one of them has a plain name."""
        instead: dict[str, str] = {}

        def now(name: str) -> str:
            while name in instead:
                name = instead[name]
            return name

        kept = []
        for statement in self.body:
            match = statement.alias()
            gone = self._merge(now(match[1]), now(match[2])) if match and not match[3] else None
            if gone is None:
                kept.append(statement)
            else:
                instead |= gone
        self.body = kept
        for line in self._lines():
            line.written = NAMES.sub(lambda match: now(match[0]), line.written)
            line.read = NAMES.sub(lambda match: now(match[0]), line.read)

    def _lines(self) -> Iterator[Line]:
        return (line for statement in self.body for line in statement.lines)

    def _merge(self, target: str, source: str) -> dict[str, str] | None:
        """Of two equal signals, the one to remove (if any) and the one that replaces it."""
        one, two = self.declared[target], self.declared[source]
        if (one.shape, one.depth) != (two.shape, two.depth):
            return None
        if is_unnamed(source) and not two.direction:
            one.kind = two.kind
            del self.declared[source]
            return {source: target}
        if "$" in target and not one.direction:
            del self.declared[target]
            return {target: source}
        return None

    def _use_fields(self) -> None:
        """Read fields by their names."""
        shown: dict[tuple[str, str], str] = {}
        others = []
        for statement in self.body:
            match = statement.alias()
            if match and match[3] and match[1] in self._fields_of(match[2]):
                shown[match[2], match[3]] = match[1]
            else:
                others += statement.lines
        for line in others:
            line.read = SLICE.sub(lambda match: shown.get((match[1], match[2]), match[0]), line.read)

    def _fields_of(self, name: str) -> set[str]:
        paths = (path if path.startswith("[") else f".{path}" for path, _, _ in self.layouts.get(plain(name), ()))
        return {f"\\{plain(name)}{path} " for path in paths}

    def _leave_out_unread(self) -> None:
        """Remove signals that are never read and that only repeat others or have no name."""
        reads = Counter(name for line in self._lines() for name in NAMES.findall(line.read))
        matches = ((ASSIGNMENT.match(statement.lines[0].text), statement) for statement in self.body)
        assigned = {match[1]: statement for match, statement in matches if match
                    and not self.declared[match[1]].direction and (is_unnamed(match[1]) or statement.alias())}
        unread = [name for name in assigned if not reads[name]]
        gone = set()
        while unread:
            name = unread.pop()
            names = NAMES.findall(assigned[name].lines[0].read)
            gone.add(id(assigned.pop(name)))
            del self.declared[name]
            reads.subtract(names)
            unread += [name for name in set(names) if name in assigned and not reads[name]]
        self.body = [statement for statement in self.body if id(statement) not in gone]

    def _declaration(self, name: str, chosen: Mapping[str, str]) -> str:
        what = self.declared[name]
        listed = self.layouts.get(plain(name), ())
        is_plain = all(path == bits(high, low) for path, high, low in listed)  # an array of single bits
        layout = "" if is_plain else ", ".join(f"{path}~{bits(high, low)}" for path, high, low in listed)
        comment = [line.replace("~", " ") for line in textwrap.wrap(
            layout, WIDTH, initial_indent="  // ", subsequent_indent="  // ", break_long_words=False)]
        line = f"  {f'{what.direction} {what.kind}'.strip()}{what.shape} {chosen[name]}{what.depth}"
        return "\n".join([*comment, *what.attributes, line])
