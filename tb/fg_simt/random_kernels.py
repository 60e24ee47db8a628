"""Memory images of random kernels, of all instructions that the engine has; the host part launches them for ever."""

import random
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from warploom.arch.encoding import encode, encode_program
from warploom.arch.fg_simt.code import ATOMICS, KERNEL, UNGUARDED
from warploom.arch.fg_simt.image import CODE, CONSTANTS, HOST, LOCAL, PARAMETERS, SHARED, Image, LaunchBlock, Segment
from warploom.arch.fg_simt.image import lines as whole_lines
from warploom.arch.fg_simt.sizes import LATENCY
from warploom.arch.isa import MEMORY_OPS, MODIFIERS, PT, RZ, Instruction, Op
from warploom.arch.modifiers import MODIFIER_KINDS, Access, Cond, DType, Space, Special, Vote
from warploom.rtl.fg_simt.decode import legal_values

BYTES, LOCAL_BYTES = 1024, 32
"""Of buffer, parameters, constants and shared memory, and of the local memory of a thread."""

LENGTH = 20
"""Instructions of a kernel."""

BASE, PLACE, ZERO, FREE = 31, 30, 29, 10
"""Registers that keep the buffer's address, that of the thread's word in it, and 0; the first ones are free."""

SHAPES = ((32, 1, 1), (64, 1, 1), (33, 1, 1), (8, 4, 1), (5, 3, 2), (32, 2, 1), (1, 1, 1), (3, 1, 5))
GRIDS = ((1, 1, 1), (2, 1, 1), (1, 2, 2))

RARE: tuple[tuple[Instruction, ...], ...] = (
    *[()] * 2,
    (Instruction(op=Op.TRAP, guard=0),),
    (Instruction(op=Op.BRA, imm=1 << 20),),  # nothing is there
    (Instruction(op=Op.BRA, guard=0, imm=LENGTH), Instruction(op=Op.BAR)),
    (Instruction(op=Op.MOV, dst=0, imm=BYTES // 2, imm_slot=0, param=True, guard_not=True),),
    (Instruction(op=Op.ST, src=(BASE, ZERO, 0), space=Space.GLOBAL, access=Access.B32), Instruction(op=Op.MEMBAR)),
    (Instruction(op=Op.LD, src=(BASE, ZERO, RZ), imm=1, space=Space.GLOBAL, access=Access.B32),),
)
"""What may be in the place of some instructions."""

END = (Instruction(op=Op.ST, src=(PLACE, ZERO, 0), space=Space.GLOBAL, access=Access.B32), Instruction(op=Op.EXIT))

STRAY = (7, 17, 18, 127)
"""Bits that make any instruction illegal: of operation, destination, and behind the modifiers."""

WEIGHTS = {Op.ISETP: 5, Op.BRA: 6, Op.VOTE: 3, Op.LD: 5, Op.ST: 3, Op.MOV: 3, Op.IADD: 3, Op.S2R: 3, Op.PLOP3: 3,
           Op.EXIT: 0.4, Op.TRAP: 0.4, Op.FDIV: 0.2, Op.FRCP: 0.2, Op.IDIV: 0.2, Op.IREM: 0.2, Op.BAR: 0.7}
"""How often operations are drawn, compared with the others."""

OPERATIONS = sorted(KERNEL)
SMALL = [WEIGHTS.get(op, 1) for op in OPERATIONS]


def images(rng: random.Random, kernels: int, turns: int | None = None) -> Image:
    """Kernels of random code and geometry, launched as `launched` does it."""
    return launched(rng, [_kernel(rng) for _ in range(kernels)], turns)


def launched(rng: random.Random, kernels: Sequence[Sequence[int]], turns: int | None = None) -> Image:
    """Kernels of encoded instructions, which are launched in turn with random geometry: each so many times, without end
    if that is None."""
    codes = [b"".join(word.to_bytes(16, "little") for word in words) for words in kernels]
    places = [0]
    for code in codes:
        places.append(places[-1] + len(whole_lines(code)))
    blocks, counts = zip(*(_block(rng, CODE + place) for place in places[:-1]), strict=True)
    size = len(whole_lines(blocks[0]))
    first = CODE + places[-1]
    host = [i for number, count in enumerate(counts) for i in (
        Instruction(op=Op.MOV, dst=0, imm=count, imm_slot=0),
        Instruction(op=Op.LAUNCH, dst=1, src=(0, RZ, RZ), imm=first + size * number, imm_slot=1))]
    ending = [Instruction(op=Op.BRA, imm=0)] if turns is None else [*host * (turns - 1), Instruction(op=Op.EXIT)]
    words = [rng.randbytes(BYTES) for _ in range(3)]
    contents = (
        Segment(0, words[0]), Segment(CONSTANTS, words[1]), Segment(PARAMETERS, words[2]),
        Segment(SHARED, bytes(BYTES)), Segment(LOCAL, bytes(32 * LOCAL_BYTES)),
        Segment(CODE, b"".join(map(whole_lines, (*codes, *blocks)))),
        Segment(HOST, whole_lines(encode_program((*host, *ending)))))
    assert all(one.base + len(one.contents) <= other.base for one, other in pairwise(sorted(contents)))
    return contents


def _block(rng: random.Random, code: int) -> tuple[bytes, int]:
    """A launch block, and the operand of its launch."""
    shape, grid = rng.choice(SHAPES), rng.choice(GRIDS)
    threads, blocks = shape[0] * shape[1] * shape[2], grid[0] * grid[1] * grid[2]
    warps = -(-threads // 32)
    block = LaunchBlock(code, PARAMETERS, *shape, *grid, CONSTANTS, BYTES, SHARED, BYTES, LOCAL, LOCAL_BYTES, warps,
                        BYTES, threads)
    return block.contents(), rng.choice((32 * warps * blocks, 32 * warps * blocks, 32, 64, 31, 5))


def _kernel(rng: random.Random) -> list[int]:
    """Encoded instructions. A few are none."""
    head = [Instruction(op=Op.MOV, dst=0, imm=4 * rng.randrange(BYTES // 4), imm_slot=0, param=True),
            Instruction(op=Op.S2R, dst=PLACE, special=Special.LANEID), Instruction(op=Op.MOV, dst=ZERO, imm_slot=0),
            Instruction(op=Op.MOV, dst=BASE, imm=64, imm_slot=0),
            Instruction(op=Op.IMAD, dst=PLACE, src=(PLACE, RZ, BASE), imm=4, imm_slot=1),
            *(_some(rng, predicate) for predicate in range(3))]
    body = [_instruction(rng) for _ in range(LENGTH)]
    first, rare = rng.randrange(6), rng.choice(RARE)
    body[first : first + len(rare)] = rare
    code = [encode(i) for i in (*head, *body, *END)]
    if rng.random() < 0.1:
        code[len(head) + first] ^= 1 << rng.choice(STRAY)
    return code


def _some(rng: random.Random, predicate: int) -> Instruction:
    """A predicate that holds in the lanes from 0 on."""
    return Instruction(op=Op.ISETP, src=(PLACE, RZ, RZ), imm=64 + 4 * rng.randrange(1, 32), imm_slot=1, pdst=predicate,
                       cond=Cond.LT)


def _instruction(rng: random.Random) -> Instruction:
    op, = rng.choices(OPERATIONS, SMALL)
    made: dict[str, object] = {"op": op, "src": tuple(_register(rng) for _ in range(3))}
    if op not in UNGUARDED and rng.random() < (0.8 if op is Op.BRA else 0.25):
        made |= {"guard": rng.choice((*range(PT), PT, PT)), "guard_not": rng.random() < 0.4}
    if op in (Op.EXIT, Op.TRAP) and "guard" not in made:
        made["guard"] = rng.randrange(7)
    if rng.random() < 0.4:
        made |= {"imm_slot": rng.randrange(3), "imm": rng.choice((0, 1, 31, rng.getrandbits(32)))}
        if rng.random() < 0.5:
            made |= {"param": True, "imm": 4 * rng.randrange(BYTES // 4)}
    if rng.random() < 0.3:
        made |= {"psrc": rng.randrange(8), "psrc_not": rng.random() < 0.5}
    return _special(rng, made, op)


def _special(rng: random.Random, made: dict[str, object], op: Op) -> Instruction:
    """The rest of an instruction, as its operation wants it."""
    if op in (Op.ISETP, Op.FSETP, Op.PLOP3, Op.IADD, Op.VOTE):
        made["pdst"] = rng.randrange(8)
    if op not in (Op.ST, Op.RED, Op.ISETP, Op.FSETP, Op.PLOP3, Op.BRA, Op.BAR, Op.EXIT, Op.TRAP):
        made["dst"] = rng.choice((RZ, *range(FREE)))
    if op in LATENCY:
        made |= {name: rng.choice(values) for name, values in _modifiers(op).items()}
    if op is Op.SHF:
        made["signed"] = made["signed"] and made["right"]
    if op is Op.BRA:
        made |= {"imm": rng.randrange(LENGTH + 4), "imm_slot": 3, "param": False}
    elif op is Op.VOTE:
        made |= {"imm": rng.choice((0xFFFFFFFF, rng.getrandbits(32))), "imm_slot": 0, "param": False,
                 "vote": rng.choice((Vote.ALL, Vote.ANY, Vote.UNI, Vote.BALLOT)), "sync": rng.random() < 0.2}
    elif op is Op.PLOP3:
        made["src"] = tuple(rng.choice((RZ, *range(9))) for _ in range(3))
    elif op in MEMORY_OPS:
        _access(rng, made, op)
    return Instruction(**made)  # type: ignore[arg-type]  # names are the fields'


@cache
def _modifiers(op: Op) -> dict[str, Sequence[int]]:
    """The values of each modifier of an operation."""
    return {name: legal_values(op).get(name, range(1 << MODIFIER_KINDS[name].bits)) for name in MODIFIERS.get(op, ())}


def _access(rng: random.Random, made: dict[str, object], op: Op) -> None:
    """An access to the buffer, to shared or local memory, to parameters or constants; seldom to anywhere."""
    made |= {"imm_slot": 3, "param": False, "imm": 4 * rng.randrange(BYTES // 4 - 48), "wide": rng.random() < 0.3,
             "space": Space.GLOBAL, "src": (rng.choice((BASE, PLACE, PLACE)), ZERO, _register(rng))}
    if op in (Op.ATOM, Op.RED):
        made |= {"atom": rng.choice(ATOMICS), "dst_type": rng.choice((DType.U32, DType.S32)),
                 "space": rng.choice((Space.GLOBAL, Space.GLOBAL, Space.SHARED))}
    else:
        made["access"] = rng.choice((*Access, Access.B32, Access.B32, Access.B32))
        written = (Space.GLOBAL, Space.GLOBAL, Space.SHARED, Space.LOCAL)
        made["space"] = rng.choice((*written, Space.CONST, Space.PARAM) if op is Op.LD else written)
        if made["space"] is Space.LOCAL:
            made |= {"imm": 4 * rng.randrange(LOCAL_BYTES // 4), "src": (ZERO, ZERO, _register(rng))}
    if rng.random() < 0.02:
        made["src"] = (_register(rng), ZERO, RZ)


def _register(rng: random.Random) -> int:
    return rng.choice((RZ, PLACE, BASE, *range(FREE)))
