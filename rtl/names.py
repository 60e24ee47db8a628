"""Names for signals that Amaranth and Yosys leave unnamed, derived from their neighbours (`docs/verilog.md`)."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from warploom.rtl.statements import NAMES, REGISTER, Declared, Statement, plain

_UNNAMED = re.compile(r"(port)?(\$\d+)+|_\d+_|\$(signal|like|signature__\w+?)(\$\d+)*")


def choose(
    declared: Mapping[str, Declared], statements: Sequence[Statement], hints: Mapping[str, str]
) -> dict[str, str]:
    """A new name for each name of a module, all different. A plain name does not change, unless it is that of an
    instance's port. `hints` are names of ports in the module's user."""
    clues = _Clues(declared, statements, hints)
    chosen = {name: name for name in declared if name == plain(name) and clues.keeps(name)}
    used = set(chosen.values())
    instances = [statement.instance for statement in statements if statement.instance]
    for name in [*instances, *(name for name in declared if name not in chosen)]:
        chosen[name] = _unique(clues.wish(name), used)
        used.add(chosen[name])
    return chosen


def is_unnamed(name: str) -> bool:
    """Whether Amaranth and Yosys gave it no name."""
    return _UNNAMED.fullmatch(plain(name)) is not None


def port_hints(statement: Statement, chosen: Mapping[str, str]) -> dict[str, str]:
    """Names for the unnamed ports of an instance's module: those of the connected signals."""
    return {line.port: _stem(chosen[names[0]]) for line in statement.lines
            if is_unnamed(line.port) and (names := NAMES.findall(line.text))}


def _stem(name: str) -> str:
    return re.sub(r"_\d+$", "", name).lstrip("_")


def _unique(wish: str, used: set[str]) -> str:
    if wish not in used and not wish.startswith("_"):
        return wish
    number = 1 if wish.startswith("_") else 2
    while f"{wish}_{number}" in used:
        number += 1
    return f"{wish}_{number}"


def _parts(name: str) -> tuple[str, str]:
    """The signal, and the path of a field in it."""
    signal, path = re.fullmatch(r"([^.\[]*)(.*)", plain(name)).groups()  # type: ignore[union-attr]
    return signal, re.sub(r"\W+", "_", path).rstrip("_")


class _Clues:
    """Clues for names from the statements of a module."""

    def __init__(
        self, declared: Mapping[str, Declared], statements: Sequence[Statement], hints: Mapping[str, str]
    ) -> None:
        self.declared = declared
        self.sources: dict[str, list[str]] = defaultdict(list)
        """The expression of each signal, or input of an instance."""
        self.given = {plain(port): name for port, name in hints.items()}
        """Names of signals that are an instance's port or a register's next value."""
        for statement in statements:
            (self._connect if statement.instance else self._follow)(statement)
        self.destinations = self._destinations()

    def keeps(self, name: str) -> bool:
        """Whether a plain name is kept."""
        return bool(self.declared[name].direction) or not (is_unnamed(name) or name in self.given)

    def wish(self, name: str) -> str:
        """The desired name of a signal, a field or an instance; it starts with _ if it is to be numbered."""
        if self._has_name(name):
            return self._named(name)
        return f"_{self.destinations.get(name, 'unread')}"

    def _destinations(self) -> dict[str, str]:
        """For each unnamed value, the nearest named signal that it drives."""
        found: dict[str, str] = {}
        reached = [(name, self._named(name)) for name in self.sources if self._has_name(name)]
        for name, destination in reached:  # grows
            for source in self.sources.get(name, ()):
                if source not in found and not self._has_name(source):
                    found[source] = destination
                    reached.append((source, destination))
        return found

    def _has_name(self, name: str) -> bool:
        signal, _ = _parts(name)
        return signal in self.given or not is_unnamed(signal)

    def _named(self, name: str) -> str:
        signal, path = _parts(name)
        return self.given.get(signal, signal.split("$")[0]) + path

    def _connect(self, statement: Statement) -> None:
        for line in statement.lines:
            value, port = plain(line.text), plain(line.port)
            end = f"{plain(statement.instance)}_{port}"
            known = self.declared.get(line.text)
            is_alike = re.fullmatch(rf"(port|{re.escape(port)})?(\$\w+)*", value)
            if known and not known.direction and is_alike and not is_unnamed(port):
                self.given.setdefault(value, end)
            self.sources[end] += NAMES.findall(line.read)

    def _follow(self, statement: Statement) -> None:
        targets = [name for line in statement.lines for name in NAMES.findall(line.written) if name in self.declared]
        for line in statement.lines:
            match = REGISTER.match(line.text)
            if match and is_unnamed(match[2]) and not is_unnamed(match[1]):
                self.given.setdefault(plain(match[2]), f"{_parts(match[1])[0].split('$')[0]}_next")
            for target in targets:
                self.sources[target] += [name for name in NAMES.findall(line.read) if name in self.declared]
