"""Parses the SystemVerilog that Yosys writes: declarations, and statements with the names that they write and read.

It reads only the text of the pinned Yosys: one declaration or assignment in a line, indented by depth.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_NAME = r"(?:\\\S+ |(?<![\w$'\\])[A-Za-z_][\w$]*)"
NAMES = re.compile(rf'"(?:[^"\\]|\\.)*"|{_NAME}')
"""Names, including keywords; one with special characters starts with a backslash and ends with a blank. A string counts
as one name, so that its words do not."""

SLICE = re.compile(rf"({_NAME})(\[\d+(?::\d+)?\])")
ALIAS = re.compile(rf"  assign ({_NAME}) = ({_NAME})(\[\d+(?::\d+)?\])?;$")
ASSIGNMENT = re.compile(rf"  assign ({_NAME}) = ")
REGISTER = re.compile(rf"    ({_NAME}) <= ({_NAME});$")
MODULE = re.compile(r"^module (\w+)\((.*?)\);\n(.*?)^endmodule\n", re.MULTILINE | re.DOTALL)

_DECLARATION = re.compile(rf"  (input|output|wire|reg)((?: signed)?(?: \[\d+:\d+\])?) ({_NAME})(.*);$")
_INSTANCE = re.compile(rf"  (\w+) ({_NAME}) ?\($")
_CONNECTION = re.compile(r"    \.(\w+|\\\S+ )\((.*)(\),?)$")
_INDEXED = re.compile(rf" +{_NAME}(?=\[(?!\d+[:\]]).* <?= )")
_ASSIGNED = re.compile(r" +.*? <?= ")


def plain(name: str) -> str:
    """A name without the backslash and the blank around special characters."""
    return name[1:-1] if name.startswith("\\") else name


@dataclass
class Declared:
    """A declaration; `direction` is empty except for ports."""

    kind: str
    shape: str
    depth: str
    attributes: list[str]
    direction: str = ""


@dataclass
class Line:
    """A line: the part that writes, up to its equals sign or to an index that is not constant, and the rest. In an
    instance the line of a `port` writes or reads the connected signal, and has an `end`."""

    written: str = ""
    read: str = ""
    port: str = ""
    end: str = ""

    @property
    def text(self) -> str:
        """The part with names of this module, as in the file."""
        return self.written + self.read


@dataclass
class Statement:
    """An assignment, a process or, of a `module`, an `instance`."""

    attributes: list[str]
    module: str = ""
    instance: str = ""
    lines: list[Line] = field(default_factory=list)

    def alias(self) -> re.Match[str] | None:
        """A match of `ALIAS`, if the statement only repeats another signal or bits of it."""
        return None if self.instance else ALIAS.match(self.lines[0].text)


def sort(body: str) -> tuple[dict[str, Declared], list[tuple[list[str], str]]]:
    """The declarations of a module, by name, and its other lines; both with the attributes before them."""
    declared: dict[str, Declared] = {}
    others: list[tuple[list[str], str]] = []
    attributes: list[str] = []
    for line in body.splitlines():
        if line.lstrip().startswith("(*"):
            attributes.append(line)
            continue
        if match := _DECLARATION.match(line):
            _declare(declared, match, attributes)
        else:
            others.append((attributes, line))
        attributes = []
    return declared, others


def _declare(declared: dict[str, Declared], match: re.Match[str], attributes: list[str]) -> None:
    kind, shape, name, depth = match.groups()
    if kind in ("input", "output"):
        declared[name] = Declared("wire", shape, depth, attributes, kind)
    elif name in declared:  # a port declared again, as wire or reg
        declared[name].kind = kind
    else:
        declared[name] = Declared(kind, shape, depth, attributes)


def statements(lines: Iterable[tuple[list[str], str]], outputs: Mapping[str, set[str]]) -> list[Statement]:
    """The statements of a module from its lines; `outputs` are the output ports of all modules."""
    made: list[Statement] = []
    for attributes, line in lines:
        if match := _INSTANCE.match(line):
            made.append(Statement(attributes, *match.groups()))
        elif made and made[-1].instance and (match := _CONNECTION.match(line)):
            port, value, end = match.groups()
            is_output = port in outputs[made[-1].module]
            made[-1].lines.append(Line(value if is_output else "", "" if is_output else value, port, end))
        elif line != "  );":
            if re.match(r"  [^ ]", line) and line != "  end":
                made.append(Statement(attributes))
            made[-1].lines.append(_line(line))
    return made


def _line(line: str) -> Line:
    if match := _INDEXED.match(line):
        return Line(match[0], line[match.end():])
    if line.lstrip().startswith(("if ", "case")) or not (match := _ASSIGNED.match(line)):
        return Line(read=line)
    return Line(match[0], line[match.end():])
