"""ldmatrix and stmatrix: matrices of 8 rows of eight 16-bit numbers, between shared memory and registers.

Lane 8 * m + r has the address of row r of matrix m. Each lane holds two numbers of each matrix: lane 4 * r + c numbers
2 * c and 2 * c + 1 of row r, or with .trans of column r. So it gets the addresses that it needs from other lanes.
"""

from dataclasses import replace

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Shuffle, Space, Special, Vote
from warploom.compiler import ptx
from warploom.compiler.emitter import Emitter, constant
from warploom.compiler.ir import Operand
from warploom.compiler.lower_convert import PACK
from warploom.compiler.lower_memory import Place, behind, place
from warploom.compiler.registry import lowers
from warploom.compiler.truth import AND

COUNTS = {"x1": 1, "x2": 2, "x4": 4}

ROWS = 8

SUPPORTS = ".sync.aligned.m8n8.x1, .x2 and .x4 (.trans) of .b16"


@lowers("ldmatrix", types=("b16",), supports=SUPPORTS)
def load(e: Emitter) -> None:
    """ldmatrix."""
    items, address = e.operands(2)
    registers, matrices = _matrices(e, items, address)
    for item, parts in zip(registers, matrices, strict=True):
        (dst,) = e.destination(item, "b32")
        access = Access.B32 if len(parts) == 1 else Access.U16
        words = [e.op(Op.LD, *part.slots, access=access, **part.part(0)) for part in parts]
        if len(words) == 1:
            e.move((dst,), (words[0],))
        else:
            e.emit(Op.PRMT, dst, *words, constant(PACK))


@lowers("stmatrix", types=("b16",), supports=SUPPORTS)
def store(e: Emitter) -> None:
    """stmatrix."""
    address, items = e.operands(2)
    registers, matrices = _matrices(e, items, address)
    for item, parts in zip(registers, matrices, strict=True):
        word = e.word(item, "b32")
        if len(parts) == 1:
            e.emit(Op.ST, None, *parts[0].slots, word, access=Access.B32, **parts[0].part(0))
            continue
        upper = e.op(Op.SHF, word, None, constant(16), right=True)
        for part, half in zip(parts, (word, upper), strict=True):
            e.emit(Op.ST, None, *part.slots, half, access=Access.U16, **part.part(0))


def _matrices(e: Emitter, items: ptx.Operand,
              address: ptx.Operand) -> tuple[tuple[ptx.Operand, ...], list[list[Place]]]:
    """The register of each matrix, and where its two numbers are: in one word, or with .trans in two rows."""
    for modifier in ("sync", "aligned", "m8n8"):
        e.choose({modifier: True})
    count, transposed = e.choose(COUNTS), e.flag("trans")
    registers = items.items if isinstance(items, ptx.Vector) else ()
    if len(registers) != count:
        e.fail(f"the data must be a vector {{...}} of {count}")
    own = place(e, address)
    if own.space not in (Space.SHARED, Space.GENERIC):
        e.fail("matrices can only be in shared memory")
    lane = e.op(Op.S2R, special=Special.LANEID)
    outer, inner = e.op(Op.SHF, lane, None, constant(2), right=True), e.logic(AND, lane, constant(3))
    rows, column = [outer], e.op(Op.SHF, None, inner, constant(2))
    if transposed:
        even, column = (e.op(Op.SHF, None, half, constant(1)) for half in (inner, outer))
        rows = [even, e.op(Op.IADD, even, constant(1))]
    return registers, [[behind(e, _of_lane(e, own, row, ROWS * number), column) for row in rows]
                       for number in range(count)]


def _of_lane(e: Emitter, own: Place, row: Operand, first: int) -> Place:
    """The place that lane `first + row` has; all lanes have to be there."""
    lane = e.op(Op.IADD, row, constant(first)) if first else row

    def shuffled(word: Operand) -> Operand:
        if word is None:
            return None
        e.emit(Op.VOTE, None, constant(-1), vote=Vote.ALL, sync=True)
        return e.op(Op.SHFL, word, lane, constant(31), shuffle=Shuffle.IDX, sync=True)

    return replace(own, words=tuple(map(shuffled, own.slots)))
