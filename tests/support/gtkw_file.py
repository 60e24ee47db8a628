"""GTKWave save files for tests: the lines of one, each with its bits and the texts of its values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vcd.gtkw import GTKWFlag

LINE = re.compile(r"[#+]\{(\w+)\} (.*)")
BIT = re.compile(r"(?:\((\d+)\))?([\w.]+)(?:\[(\d+):0\])?")


@dataclass(frozen=True)
class Shown:
    """A line: its bits from the most significant, each a signal with its width and the number of the bit from the
    right; and its texts."""

    bits: list[tuple[str, int, int]]
    texts: dict[int, str] | None

    def value(self, word: Callable[[str], int]) -> int:
        """The number that is shown, from the value of each signal."""
        value = 0
        for signal, _, bit in self.bits:
            value = value << 1 | word(signal) >> bit & 1
        return value

    def text(self, word: Callable[[str], int]) -> str:
        """The text that is shown."""
        assert self.texts is not None
        return self.texts[self.value(word)]


def read(path: Path) -> dict[str, Shown]:
    """The lines of a file by their labels."""
    found: dict[str, Shown] = {}
    flags, filters, last = GTKWFlag(0), {}, ""
    for line in path.read_text().splitlines():
        if line.startswith("@"):
            flags = GTKWFlag(int(line[1:], 16))
        elif line.startswith("^"):
            last, _, file = line[1:].partition(" ")
            filters[last] = file
        elif match := LINE.fullmatch(line):
            texts = _texts(filters[last]) if GTKWFlag.ftranslated in flags else None
            assert match[1] not in found
            found[match[1]] = Shown([bit for part in match[2].split() for bit in _bits(part)], texts)
    return found


def _bits(text: str) -> list[tuple[str, int, int]]:
    """All bits of a signal, or the one that a number names, counted from the most significant."""
    match = BIT.fullmatch(text)
    assert match is not None
    width = int(match[3] or 0) + 1
    return [(match[2], width, width - 1 - bit) for bit in ([int(match[1])] if match[1] else range(width))]


def _texts(file: str) -> dict[int, str]:
    rows = [row.partition(" ") for row in Path(file).read_text().splitlines()]
    assert len({len(number) for number, _, _ in rows}) == 1, "GTKWave compares numbers with their leading zeros"
    return {int(number, 16): text for number, _, text in rows}
