"""`Source`: the lines of PTX and CUDA that machine instructions come from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from warploom.arch.errors import LaunchError
from warploom.arch.program import Program
from warploom.listing import instruction_text, source_lines

_NUMBER = r"(\d{1,9})\b"
"""The number of a file or a line; no file has more lines."""

_LOC = re.compile(rf"^\s*\.loc\b(?:\s+{_NUMBER}\s+{_NUMBER})?")
_FILE = re.compile(rf'^\s*\.file\s+{_NUMBER}\s+"([^"]*)"', re.MULTILINE)
_BODY = re.compile(r"^\s*(?:\.\w+\s+)*\.(?:entry|func)\b")


class Place(NamedTuple):
    """A line of a file, counted from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class Lines:
    """The lines of one instruction: its machine code as text, PTX, and CUDA if the PTX has line information."""

    machine: str
    ptx: Place
    cuda: Place | None


class Source:
    """The sources of a program. CUDA lines come from the `.loc` directives of the PTX, which ``nvcc -lineinfo`` writes:
    each holds for what follows it in its function."""

    def __init__(self, program: Program) -> None:
        self._name, self._folders = program.source, {}
        self._texts: dict[str, list[str]] = {}
        places = [Place(*program.place(pc)) for pc in range(len(program.instructions))]
        located = {file: self._located(self.text(file)) for file in dict.fromkeys(place.file for place in places)}
        self._folders = dict.fromkeys(Path(file).parent for file in located)
        self.lines = [Lines(instruction_text(instruction), place, located[place.file].get(place.line))
                      for instruction, place in zip(program.instructions, places, strict=True)]
        """Those of each instruction, by pc."""

    def text(self, file: str) -> list[str]:
        """The lines of a file; none if it cannot be read. A CUDA file that is not where it was compiled is looked for
        beside the PTX."""
        if file not in self._texts:
            self._texts[file] = next(filter(None, map(source_lines, self._paths(file))), [])
        return self._texts[file]

    def at(self, place: Place) -> str:
        """The text of a line, without white space around it; empty if it cannot be read."""
        return at(self.text(place.file), place.line)

    def need_cuda(self) -> None:
        """Raise `LaunchError` unless the PTX has line information."""
        if not any(lines.cuda for lines in self.lines):
            raise LaunchError(f"{self._name}: has no lines of CUDA: compile it with nvcc -lineinfo -ptx")

    def _paths(self, file: str) -> Iterator[Path]:
        yield Path(file)
        for folder in self._folders:
            yield folder / file
            yield folder / Path(file).name

    def _located(self, lines: list[str]) -> dict[int, Place]:
        """The CUDA line of each PTX line that has one."""
        files = {int(number): name for number, name in _FILE.findall("\n".join(lines))}
        located: dict[int, Place] = {}
        here: Place | None = None
        for number, line in enumerate(lines, start=1):
            if match := _LOC.match(line):
                file, at = (int(number or 0) for number in match.groups())
                here = Place(files[file], at) if file in files and at else None
            elif _BODY.match(line):
                here = None
            if here is not None:
                located[number] = here
        return located


def at(lines: Sequence[str], number: int) -> str:
    """A line without white space around it; empty if there is none of this number."""
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
