"""How the lanes of the active fragment go on after an instruction (docs/contract/fg_simt.md, *Fragments*)."""

from enum import IntEnum


class Move(IntEnum):
    """All stay; all go to the next instruction; some branch; some exit. One-hot in hardware: NEXT is known late, and
    moves no fragment of the stack."""

    STAY, NEXT, BRANCH, LEAVE = 0, 1, 2, 4


MOVE_BITS = 3
