"""The module variables that a program reads: each program has its own, with values from its seed."""

import re
from collections.abc import Callable, Iterable

from fuzz.given import stream

_SHORT, _BYTE = 1 << 16, 1 << 8

Words = list[int]


def _list(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def _signed(words: Iterable[int], size: int) -> list[int]:
    return [word % size - size // 2 for word in words]


def _grid(words: Words) -> str:
    a, b, c, d = _signed(words[:4], _SHORT)
    return f"{{{a}, {b}}}, {{{c}}}, {{{d}, {a}, {c}, {b}}}"


def _records(words: Words) -> str:
    return _list(f"{{{a % _BYTE}, {b % _SHORT - _SHORT // 2}, variable_ + {c % 7}, {d % _BYTE - _BYTE // 2}}}"
                 for a, b, c, d in zip(*[iter(words[:12])] * 4, strict=True))


VARIABLES: dict[str, tuple[str, Callable[[Words], str]]] = {
    "table": ("__constant__ u32 table_[16]", lambda words: _list(f"{word}u" for word in words)),
    "variable": ("__device__ u32 variable_[8]", lambda words: _list(f"{word}u" for word in words[:6])),
    "small": ("__constant__ s16 small_[8]", lambda words: _list(_signed(words[:8], _SHORT))),
    "bytes": ("__constant__ s8 bytes_[8]", lambda words: _list(_signed(words[:7], _BYTE))),
    "grid": ("__constant__ s16 grid_[3][4]", _grid),
    "reals": ("__constant__ f32 reals_[4]", lambda words: _list(f"{word % 4096 / 16}f" for word in words[:3])),
    "pointers": ("__device__ u32 *pointers_[4]", lambda words: f"variable_ + {words[0] % 8}, "
                 f"&variable_[{words[1] % 8}], variable_, variable_ + 7"),
    "places": ("__device__ const u32 *places_[4]", lambda words: f"table_ + {words[0] % 16}, "
               f"variable_ + {words[1] % 8}, &table_[{words[2] % 16}], table_"),
    "records": ("__device__ Record records_[3]", _records),
}
"""Declaration and initialiser of each, in this order; the last ones point to another."""

_NAME = re.compile(rf"\b({'|'.join(VARIABLES)})_(?!\d)")


def with_variables(code: str, seed: int) -> str:
    """Encoding after the declarations of the variables that it names, their names those of the program of this seed."""
    names = set(_NAME.findall(code))
    names |= {"variable"} if names & {"pointers", "places", "records"} else set()
    names |= {"table"} if "places" in names else set()
    declared = "".join(_declaration(name, seed) for name in VARIABLES if name in names)
    return _NAME.sub(rf"\1_{seed}", declared + code)


def _declaration(name: str, seed: int) -> str:
    declared, initialiser = VARIABLES[name]
    data = stream(seed, name, 64)
    words = [int.from_bytes(data[i : i + 4], "little") >> i % 25 for i in range(0, 64, 4)]
    return f"{declared} = {{{initialiser(words)}}};\n"
