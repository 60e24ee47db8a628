"""Branches, exits, barriers and fences."""

from warploom.arch.isa import Op, Vote
from warploom.compiler import ptx
from warploom.compiler.emitter import Emitter, known
from warploom.compiler.registry import NO_TYPE, lowers

BARRIERS = 16
"""Barriers of a block, numbered from 0."""

MAX_COUNT = 1024

BARRIER_FORMS = ".sync and .red (.popc.u32, .and.pred, .or.pred) with constant barrier and thread count"


@lowers("bra", types=NO_TYPE, supports="a label, .uni")
def branch(e: Emitter) -> None:
    """bra."""
    e.flag("uni")
    (target,) = e.operands(1)
    if not isinstance(target, ptx.Symbol):
        e.fail("a label is required")
    e.emit(Op.BRA, None, target=target.name)


@lowers("ret", "exit", types=NO_TYPE, supports="both, .uni")
def leave(e: Emitter) -> None:
    """ret and exit of an entry."""
    e.flag("uni")
    e.operands(0)
    e.emit(Op.EXIT, None)


@lowers("trap", "brkpt", types=NO_TYPE, supports="both, as a stop with an error")
def trap(e: Emitter) -> None:
    """trap, brkpt."""
    e.operands(0)
    e.emit(Op.TRAP, None)


def _constant(e: Emitter, operand: ptx.Operand, what: str, limit: int) -> int:
    value = known(e.word(operand, "u32")) if isinstance(operand, ptx.Immediate) else None
    if value is None or value > limit:
        e.fail(f"the {what} must be a constant from 0 to {limit}")
    return value


@lowers("bar", "barrier", types=NO_TYPE, supports=f"{BARRIER_FORMS}; bar.warp.sync")
def barrier(e: Emitter) -> None:
    """bar.sync, barrier.sync; bar.warp.sync needs nothing, as the lanes of a path run together."""
    if e.flag("warp"):
        e.choose({"sync": True})
        return
    e.flag("cta")
    e.flag("aligned")
    e.choose({"sync": True})
    number, *count = e.operands(1, 2)
    threads = _constant(e, count[0], "thread count", MAX_COUNT) if count else 0
    e.emit(Op.BAR, None, imm=_constant(e, number, "barrier number", BARRIERS - 1), count=threads)


@lowers("bar", "barrier", types=("u32", "pred"), supports=f"{BARRIER_FORMS}; bar.warp.sync")
def barrier_reduce(e: Emitter) -> None:
    """bar.red: a barrier that reduces a predicate over the block."""
    e.flag("cta")
    e.flag("aligned")
    e.choose({"red": True})
    is_count = e.type == "u32"
    mode = e.choose({"popc": Vote.POPC} if is_count else {"and": Vote.ALL, "or": Vote.ANY})
    d, number, *count, p = e.operands(3, 4)
    threads = _constant(e, count[0], "thread count", MAX_COUNT) if count else 0
    dst = e.destination(d, e.type)[0]
    e.emit(Op.BARRED, dst if is_count else None, pdst=None if is_count else dst, psrc=e.predicate(p),
           imm=_constant(e, number, "barrier number", BARRIERS - 1), count=threads, vote=mode)


@lowers("membar", "fence", types=NO_TYPE, supports=".cta, .gl, .gpu, .sys, .sc, .acq_rel, .acquire, .release")
def fence(e: Emitter) -> None:
    """membar, fence."""
    e.drop(lambda m: m in ("cta", "gl", "gpu", "cluster", "sys", "sc", "acq_rel", "acquire", "release"))
    e.operands(0)
    e.emit(Op.MEMBAR, None)
