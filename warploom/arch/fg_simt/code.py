"""The instructions that the engine executes, and the check of a kernel before it is placed in an image."""

from warploom.arch.errors import LaunchError
from warploom.arch.fg_simt.sizes import LATENCY, REGISTERS
from warploom.arch.isa import MEMORY_OPS, PT, RZ, Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Atom, Cond, DType, Space, Special, Vote
from warploom.arch.program import Program

CONTROL = frozenset({Op.BRA, Op.EXIT, Op.BAR, Op.MEMBAR, Op.NOP, Op.TRAP})
ATOMICS = (Atom.ADD, Atom.MIN, Atom.MAX, Atom.AND, Atom.OR, Atom.XOR, Atom.EXCH)
KERNEL = frozenset(LATENCY) | CONTROL | {*MEMORY_OPS, Op.VOTE}
"""Operations of kernels."""

CARRYING = frozenset({Op.IADD, Op.ISUB, Op.IMAD})
PREDICATING = CARRYING | {Op.ISETP, Op.FSETP, Op.PLOP3, Op.VOTE}
"""Operations with a predicate result: a carry, or what they test."""

TESTS = frozenset({Op.ISETP, Op.FSETP, Op.PLOP3})
"""Operations whose only result is a predicate."""

UNGUARDED = frozenset({Op.BAR, Op.MEMBAR, Op.NOP, Op.VOTE})
SPECIALS = frozenset(range(Special.WARPID + 1)) | {Special.NWARPID, Special.SMID, Special.NSMID}
READ_ONLY = (Space.CONST, Space.PARAM)

HOST = frozenset({
    Op.MOV, Op.IADD, Op.ISUB, Op.IMIN, Op.IMAX, Op.IMUL, Op.IMAD, Op.LOP3, Op.SHF, Op.ISETP, Op.SEL, Op.BRA, Op.LD,
    Op.ST, Op.MEMBAR, Op.LAUNCH, Op.EXIT,
})
"""Operations of the host part."""


def refusal(i: Instruction) -> str:
    """Why a kernel may not have an instruction; empty if it may."""
    numbers = () if i.op is Op.PLOP3 else (source for slot, source in enumerate(i.src) if slot != i.imm_slot)
    reasons = {
        "it has no 64-bit atomics or divisions, and no compare-and-swap": i.op is Op.LATCH,
        f"it has no {i.op.name}": i.op not in KERNEL,
        f"it has {REGISTERS} registers of a thread": any(REGISTERS <= number != RZ for number in (i.dst, *numbers)),
        f"its {i.op.name} takes no guard": i.op in UNGUARDED and i.guarded,
        "its VOTE takes a constant mask": i.op is Op.VOTE and (i.imm_slot != 0 or i.param),
        f"its {i.op.name} has no predicate result": i.op not in PREDICATING | CONTROL and i.pdst != PT,
        f"its {i.op.name} has no register result": i.op in TESTS and i.dst != RZ,
        "its SHF to the left has no sign": i.op is Op.SHF and i.signed and not i.right,
        f"it has no VOTE {i.vote.name}": i.op is Op.VOTE and i.vote is Vote.POPC,
        f"it has no ISETP {i.cond.name}": i.op is Op.ISETP and i.cond > Cond.GE,
        f"it has no special register {i.special.name}": i.op is Op.S2R and i.special not in SPECIALS,
        f"it does not convert {i.src_type.name} to {i.dst_type.name}":
            i.op is Op.CVT and (_strange(i.dst_type) or _strange(i.src_type)),
    }
    return next((reason for reason, holds in reasons.items() if holds), _refused_access(i))


def _strange(kind: DType) -> bool:
    return kind.is_wide or kind.is_half


def _refused_access(i: Instruction) -> str:
    if i.op is Op.ST and i.space in READ_ONLY:
        return f"{i.space.name.lower()} memory is read-only"
    if i.op not in (Op.ATOM, Op.RED):
        return ""
    if i.atom not in ATOMICS or i.dst_type not in (DType.U32, DType.S32):
        return f"it has no atomic {i.atom.name} of {i.dst_type.name}"
    return "" if i.space in (Space.GLOBAL, Space.SHARED) else "its atomics are in global and shared memory"


def host_refusal(i: Instruction) -> str:
    """Why the host part may not have an instruction; empty if it may."""
    if i.op not in HOST:
        return f"the host part has no {i.op.name}"
    if i.op is Op.ISETP and i.cond > Cond.GE:
        return f"the host part has no ISETP {i.cond.name}"
    numbers = (source for slot, source in enumerate(i.src) if slot != i.imm_slot)
    if any(REGISTERS <= number != RZ for number in (i.dst, *numbers)) or i.param:
        return f"the host part has {REGISTERS} registers and no parameters"
    if i.op in (Op.LD, Op.ST) and (i.wide or i.space is not Space.GLOBAL):
        return "the host part has addresses of 32 bits in global memory"
    return ""


def check(program: Program, launch: Launch) -> None:
    """Raise `LaunchError` for a kernel that the engine does not execute, naming the PTX line of an instruction."""
    refused = f"{program.name} can't run on the FG-SIMT engine"
    if program.names > REGISTERS:
        raise LaunchError(f"{program.source}: {refused}: it has {REGISTERS} registers of a thread, and the kernel "
                          f"needs {program.names}")
    if 32 * launch.warps_per_block * launch.blocks >> 32:
        raise LaunchError(f"{program.source}: {refused}: it counts the threads of a launch in 32 bits: launch fewer "
                          f"blocks than {launch.blocks:,}")
    if program.grid_barrier:
        raise LaunchError(f"{program.source}: {refused}: its blocks wait for each other (grid.sync)")
    for pc, i in enumerate(program.instructions):
        why = refusal(i)
        if i.op is Op.BAR and launch.threads > 32:
            why = "a barrier joins the 32 threads of one warp: launch blocks of at most 32 threads"
        if why:
            raise LaunchError(f"{program.at(pc)}: {refused}: {why}")
    for variable in program.module:
        if variable.space is Space.GLOBAL:
            raise LaunchError(f"{program.source}: {refused}: it has no .global variables such as {variable.name}; pass "
                              "an array, or remove printf and assert, whose texts are such variables")
