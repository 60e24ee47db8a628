"""How the lanes of the active fragment go on after an instruction (docs/contract/fg_simt.md, *Fragments*)."""

from enum import IntEnum


class Move(IntEnum):
    """All stay; all go to the next instruction; some branch; some exit."""

    STAY, NEXT, BRANCH, LEAVE = range(4)


MOVE_BITS = 2
