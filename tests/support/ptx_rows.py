"""The instructions of `vectors/`, one for each row, and kernels of several of them."""

import json
from pathlib import Path

import numpy as np

from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

FOLDER = Path(__file__).parents[1] / "vectors"
ROWS = json.loads((FOLDER / "rows.json").read_text())
WORDS = 64
"""Number of words of each operand, and of threads of a kernel."""

ROWS_PER_KERNEL = 24
SENTINEL = 0xCCCCCCCC
"""What a lane has in its results if it takes no part."""


def width(kind: str) -> int:
    """Bits of the register of an operand; 8-bit types live in 32-bit registers."""
    if kind == "pred":
        return 1
    bits = int(kind.lstrip("bfsu"))
    return 32 if bits == 8 else bits


def register_type(kind: str) -> str:
    """The type with which a register for an operand is declared."""
    return "pred" if kind == "pred" else f"b{width(kind)}"


def recorded_operands() -> list[np.ndarray]:
    """The operands of each row: (operands, 64) words."""
    with np.load(FOLDER / "vectors.npz") as archive:
        operands = archive["operands"]
    ends = np.cumsum([len(row["ins"]) for row in ROWS])
    return [operands[end - len(row["ins"]) : end] for row, end in zip(ROWS, ends, strict=True)]


def load(letter: str, kind: str, slot: int) -> list[str]:
    if kind == "pred":
        return [f"ld.global.u32 %t0, [%in+{512 * slot}];", f"setp.ne.u32 %{letter}, %t0, 0;"]
    return [f"ld.global.b{width(kind)} %{letter}, [%in+{512 * slot}];"]


def store(letter: str, kind: str, slot: int) -> list[str]:
    if kind == "pred":
        return [f"selp.u32 %t0, 1, 0, %{letter};", f"st.global.u32 [%out+{512 * slot}], %t0;"]
    return [f"st.global.b{width(kind)} [%out+{512 * slot}], %{letter};"]


def body(row: dict, number: int) -> list[str]:
    """The instruction, with the code that its form needs around it."""
    lines = row["ptx"].split("\n")
    if row["form"].startswith("atom"):
        space, bits, after = row["form"].split(".")[1], width(row["ins"][0]), "de"[len(row["outs"]) - 1]
        before = [f"add.u64 %m, %scratch, {512 * number};"] if space == "global" else ["mov.u64 %m, %words;"]
        return [*before, f"st.{space}.b{bits} [%m], %a;", *lines, f"ld.volatile.{space}.b{bits} %{after}, [%m];"]
    if row["form"] == "warp.part":
        empty = [f"setp.ne.u32 %{letter}, 0, 0;" if kind == "pred" else f"mov.b32 %{letter}, {SENTINEL:#x};"
                 for letter, kind in zip("de", row["outs"], strict=False)]
        mask = "%" + "abcf"[len(row["ins"]) - 1]
        skip = ["mov.u32 %t0, %laneid;", f"shr.u32 %t0, {mask}, %t0;", "and.b32 %t0, %t0, 1;",
                "setp.eq.u32 %skip, %t0, 0;", f"@%skip bra DONE{number};"]
        return [*empty, *skip, *lines, f"DONE{number}:"]
    return lines


def kernel(rows: list[dict]) -> str:
    """One kernel: thread i runs every row on its i-th words; each operand and result has 64 slots of 8 bytes."""
    lines, slot_in, slot_out = [], 0, 0
    for number, row in enumerate(rows):
        operands = list(zip("abcf", row["ins"], strict=False))
        results = list(zip("de", row["outs"], strict=False))
        lines += ["{", *(f".reg .{register_type(kind)} %{letter};" for letter, kind in operands + results)]
        for letter, kind in operands:
            lines += load(letter, kind, slot_in)
            slot_in += 1
        lines += body(row, number)
        for letter, kind in results:
            lines += store(letter, kind, slot_out)
            slot_out += 1
        lines.append("}")
    text = "\n".join(lines)
    return f""".version 8.3
.target sm_90
.address_size 64
.visible .entry rows(.param .u64 p_in, .param .u64 p_out, .param .u64 p_scratch)
{{
.reg .b32 %t<8>; .reg .b64 %at, %in, %out, %scratch, %words, %m; .reg .pred %skip;
.shared .align 8 .b8 words[512];
mov.u32 %t0, %tid.x; mul.wide.u32 %at, %t0, 8; mov.u64 %words, words; add.u64 %words, %words, %at;
ld.param.u64 %in, [p_in]; cvta.to.global.u64 %in, %in; add.u64 %in, %in, %at;
ld.param.u64 %out, [p_out]; cvta.to.global.u64 %out, %out; add.u64 %out, %out, %at;
ld.param.u64 %scratch, [p_scratch]; cvta.to.global.u64 %scratch, %scratch; add.u64 %scratch, %scratch, %at;
{text}
ret;
}}
"""


def run(rows: list[dict], operands: np.ndarray) -> np.ndarray:
    """Results (one for each result of each row, 64) of rows on operands (one for each operand of each row, 64)."""
    out = np.zeros((sum(len(row["outs"]) for row in rows), WORDS), np.uint64)
    buffers = Buffer("in", operands), Buffer("out", out), Buffer("scratch", np.zeros((len(rows), WORDS), np.uint64))
    program = compile_ptx(kernel(rows), "rows.ptx")
    return execute(program, Launch((1, 1, 1), (WORDS, 1, 1), buffers), record=False).buffers["out"]
