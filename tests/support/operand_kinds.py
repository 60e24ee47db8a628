"""Kernels in which one operand of an instruction gets the same value from every kind of source in PTX.

The value comes from memory, so that the compiler cannot know it; from a MOV of a constant; as a literal; from a
parameter; and from a special register. The results must equal those with the same value from memory.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from support.ptx_rows import WORDS, register_type, width

from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

THREADS = 32
"""One warp, which takes the first of the recorded words: the corner values."""

FLOATS = {"f32": np.array([0.0, 1.0, -1.0, 2.0, 0.0078125], np.float32).view(np.uint32).tolist(),
          "f64": np.array([0.0, 1.0, -1.0, 2.0, 0.0078125], np.float64).view(np.uint64).tolist()}


def values(kind: str) -> list[int]:
    """Values of an operand of a type, as bits: 0, 1, -1, powers of two, and for two words only a high one."""
    if kind == "pred":
        return [0, 1]
    bits = int(kind.lstrip("bfsu"))
    ones = (1 << width(kind)) - 1 if kind[0] == "s" else (1 << bits) - 1
    powers = [2, 1 << bits // 2 - 1, 1 << bits - 1]
    high = [1 << 32, 0xFFFFFFFF00000000] if bits == 64 else []
    return list(dict.fromkeys([*FLOATS.get(kind, []), 0, 1, ones, *powers, *high]))


def literal(kind: str, bits: int) -> str:
    """A constant in PTX."""
    if kind in FLOATS:
        return f"0{'f' if kind == 'f32' else 'd'}{bits:0{width(kind) // 4}X}"
    return str(bits - (1 << width(kind)) if kind[0] == "s" and bits >> width(kind) - 1 else bits)


class Variant(NamedTuple):
    """A value for operand `letter` of a row; `source` names its origin."""

    row: dict
    letter: str
    source: str
    value: int


@dataclass
class Kernel:
    """A kernel under construction: its lines, the values of its parameters, and the variants whose results it stores,
    each reference before those that must equal it."""

    lines: list[str] = field(default_factory=list)
    parameters: dict[int, str] = field(default_factory=dict)  # name of each value
    known: dict[int, int] = field(default_factory=dict)  # address of each value in memory
    operands: list[np.ndarray] = field(default_factory=list)
    groups: list[list[Variant]] = field(default_factory=list)
    outs: int = 0

    def add(self, row: dict, operands: np.ndarray, which: Sequence[int]) -> None:
        """Every operand of a row from every source, with the values of these indices."""
        letters = list(zip("abcf", row["ins"], strict=False))
        results = list(zip("de", row["outs"], strict=False))
        self.lines += ["{", *(f".reg .{register_type(kind)} %{letter};" for letter, kind in letters + results)]
        for number, (letter, kind) in enumerate(letters):
            self.lines += load(kind, f"%{letter}", f"[%in+{512 * (len(self.operands) + number)}]")
        self.operands += list(operands)
        first = int(row["form"].startswith("atom"))  # operand 0 of an atomic is memory, not an operand
        for letter, kind in letters[first:]:
            self.lines += ["{", f".reg .{register_type(kind)} %x, %y;"]
            known = values(kind)
            for value in dict.fromkeys(known[index % len(known)] for index in which):
                self._group(row, letter, kind, value)
            if kind != "pred":
                self._special(row, letter, kind)
            self.lines.append("}")
        self.lines.append("}")

    def _group(self, row: dict, letter: str, kind: str, value: int) -> None:
        """A value from memory, and from all other sources."""
        place = self.known.setdefault(value, 8 * len(self.known))
        name = self.parameters.setdefault(value, f"v{len(self.parameters)}")
        self.lines += load(kind, "%x", f"[%values+{place}]")
        self.groups.append([])
        self._use(Variant(row, letter, "memory", value), "%x")
        if kind == "pred":
            self.lines.append(f"setp.ne.u32 %y, {value}, 0;")
            self._use(Variant(row, letter, "constant", value), "%y")
            return
        bits = width(kind)
        self.lines.append(f"mov.b{bits} %y, {value};")
        self._use(Variant(row, letter, "constant", value), "%y")
        self._use(Variant(row, letter, "literal", value), literal(kind, value))
        self.lines.append(f"ld.param.b{bits} %y, [{name}];")
        self._use(Variant(row, letter, "parameter", value), "%y")

    def _special(self, row: dict, letter: str, kind: str) -> None:
        """The thread's number, which is also in memory."""
        bits = width(kind)
        convert = "mov.b32 %y, %t0;" if bits == 32 else f"cvt.u{bits}.u32 %y, %t0;"
        self.lines.append(f"ld.global.b{bits} %x, [%threads];")
        self.groups.append([])
        self._use(Variant(row, letter, "memory", -1), "%x")
        self.lines += ["mov.u32 %t0, %tid.x;", convert]
        self._use(Variant(row, letter, "special register", -1), "%y")

    def _use(self, variant: Variant, operand: str) -> None:
        """The instruction with one operand replaced; its results are stored."""
        row = variant.row
        lines = re.sub(rf"%{variant.letter}\b", operand, row["ptx"]).split("\n")
        if row["form"].startswith("atom"):
            _, space = row["form"].split(".")
            bits, after = width(row["ins"][0]), "de"[len(row["outs"]) - 1]
            lines = [f"st.{space}.b{bits} [%{space}], %a;", *(line.replace("%m", f"%{space}") for line in lines),
                     f"ld.volatile.{space}.b{bits} %{after}, [%{space}];"]
        self.lines += lines
        for letter, kind in zip("de", row["outs"], strict=False):
            if kind == "pred":
                self.lines += [f"selp.u32 %t0, 1, 0, %{letter};", f"st.global.u32 [%out+{512 * self.outs}], %t0;"]
            else:
                self.lines.append(f"st.global.b{width(kind)} [%out+{512 * self.outs}], %{letter};")
            self.outs += 1
        self.groups[-1].append(variant)

    def text(self) -> str:
        """The kernel as PTX."""
        given = "".join(f", .param .b64 {name}" for name in self.parameters.values())
        pointers = ("in", "out", "values", "threads", "global")
        places = "\n".join(f"ld.param.u64 %{name}, [p_{name}];" for name in pointers)
        own = "\n".join(f"add.u64 %{name}, %{name}, %at;" for name in (*pointers, "shared") if name != "values")
        body = "\n".join(self.lines)
        return f""".version 8.3
.target sm_90
.address_size 64
.visible .entry rows(.param .u64 p_in, .param .u64 p_out, .param .u64 p_values, .param .u64 p_threads,
    .param .u64 p_global{given})
{{
.reg .b32 %t<8>; .reg .b64 %at, %in, %out, %values, %threads, %global, %shared;
.shared .align 8 .b8 words[{8 * WORDS}];
mov.u32 %t0, %tid.x; mul.wide.u32 %at, %t0, 8; mov.u64 %shared, words;
{places}
{own}
{body}
ret;
}}
"""

    def run(self, *, optimise: bool) -> np.ndarray:
        """The results of each variant of each group (uint64): a row for each result."""
        buffers = (
            Buffer("in", np.stack(self.operands)), Buffer("out", np.zeros((self.outs, WORDS), np.uint64)),
            Buffer("values", np.array([*self.known, 0], np.uint64)),
            Buffer("threads", np.arange(WORDS, dtype=np.uint64)), Buffer("global", np.zeros(WORDS, np.uint64)),
        )
        scalars = [Scalar("b64", value.to_bytes(8, "little")) for value in self.parameters]
        program = compile_ptx(self.text(), "rows.ptx", optimise=optimise)
        return execute(program, Launch((1, 1, 1), (THREADS, 1, 1), (*buffers, *scalars))).buffers["out"]

    def differences(self, out: np.ndarray) -> Iterator[str]:
        """A line for each variant whose results differ from its reference."""
        at = 0
        for reference, *others in self.groups:
            count = len(reference.row["outs"])
            wanted, at = out[at : at + count], at + count
            for row, letter, source, value in others:
                got, at = out[at : at + count], at + count
                if (got != wanted).any():
                    result, thread = np.argwhere(got != wanted)[0]
                    yield (f"{row['name']}: operand %{letter} = {value:#x} as {source}, thread {thread}: "
                           f"{got[result, thread]:#x}, from memory {wanted[result, thread]:#x}")


def load(kind: str, register: str, place: str) -> list[str]:
    """PTX that loads an operand of a type."""
    if kind == "pred":
        return [f"ld.global.u32 %t0, {place};", f"setp.ne.u32 {register}, %t0, 0;"]
    return [f"ld.global.b{width(kind)} {register}, {place};"]
