"""The templates of random programs, C with holes: the lists of `templates.txt`."""

from pathlib import Path

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
TYPES = (*INTEGERS, "f32", "f64")

UNSIGNED = {"s8": "u8", "s16": "u16", "s32": "u32", "s64": "u64"}
"""Types that share an array with their unsigned counterpart."""


def _read() -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("templates.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            lists[line[3:]] = found = []
        elif line and not line.startswith("#"):
            found.append(line)
    return lists


LISTS = _read()
"""Templates by list; expressions by type, loads by `load` and type."""
