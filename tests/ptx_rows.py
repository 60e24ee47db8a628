"""The instructions of `vectors/`, one for each row, for tests that generate PTX."""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "vectors"
ROWS = json.loads((FOLDER / "rows.json").read_text())
WORDS = 64
"""Number of words of each operand, and of threads of a kernel."""


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
