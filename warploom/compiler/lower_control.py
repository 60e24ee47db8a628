"""Branches, exits, barriers and fences."""

from warploom.arch.errors import PtxError
from warploom.arch.isa import Op
from warploom.arch.modifiers import Vote
from warploom.compiler import ptx
from warploom.compiler.emitter import Emitter, known
from warploom.compiler.ir import Function, Node, Operand, VirtualRegister
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


def _count(e: Emitter, given: list[ptx.Operand]) -> int:
    """The thread count of a barrier; 0 for the whole block."""
    if not given:
        return 0
    value = known(e.word(given[0], "u32"))
    if value is None or value > MAX_COUNT or value % 32:
        e.fail(f"the thread count must be a constant multiple of 32, up to {MAX_COUNT}")
    return value


def place_barrier_numbers(function: Function) -> None:
    """Move barrier numbers, which lowering leaves in operand slot 0, to the nodes' `imm`.

    A number may come through copies, for example as an argument of an inlined function. Raises `PtxError` for a number
    that is not constant or too large.
    """
    nodes = [item for item in function.body if isinstance(item, Node)]
    makers: dict[Operand, list[Node]] = {}
    for node in nodes:
        makers.setdefault(node.dst, []).append(node)
    for node in nodes:
        if node.op in (Op.BAR, Op.BARRED):
            number = known(_origin(node.src[0], makers))
            if number is None or number >= BARRIERS:
                raise PtxError(f"the barrier number must be a constant from 0 to {BARRIERS - 1}",
                               file=function.kernel.file, line=node.line)
            node.imm, node.src[0] = number, None


def _origin(operand: Operand, makers: dict[Operand, list[Node]]) -> Operand:
    """The source of a chain of copies, each the only write of its register."""
    while isinstance(operand, VirtualRegister):
        found = makers.get(operand, ())
        if len(found) != 1 or found[0].op is not Op.MOV:
            return operand
        operand = found[0].src[0]
    return operand


@lowers("bar", "barrier", types=NO_TYPE, supports=f"{BARRIER_FORMS}; bar.warp.sync")
def barrier(e: Emitter) -> None:
    """bar.sync, barrier.sync; bar.warp.sync is a vote without a result, for which lanes have to meet."""
    if e.flag("warp"):
        e.choose({"sync": True})
        (members,) = e.operands(1)
        e.emit(Op.VOTE, None, e.word(members, "b32"), vote=Vote.ALL, sync=True)
        return
    e.flag("cta")
    e.flag("aligned")
    e.choose({"sync": True})
    number, *count = e.operands(1, 2)
    e.emit(Op.BAR, None, e.word(number, "u32"), count=_count(e, count))


@lowers("bar", "barrier", types=("u32", "pred"), supports=f"{BARRIER_FORMS}; bar.warp.sync")
def barrier_reduce(e: Emitter) -> None:
    """bar.red: a barrier that reduces a predicate over the block."""
    e.flag("cta")
    e.flag("aligned")
    e.choose({"red": True})
    is_count = e.type == "u32"
    mode = e.choose({"popc": Vote.POPC} if is_count else {"and": Vote.ALL, "or": Vote.ANY})
    d, number, *count, p = e.operands(3, 4)
    dst = e.destination(d, e.type)[0]
    e.emit(Op.BARRED, dst if is_count else None, e.word(number, "u32"), pdst=None if is_count else dst,
           psrc=e.predicate(p), count=_count(e, count), vote=mode)


@lowers("membar", "fence", types=NO_TYPE, supports=".cta, .gl, .gpu, .sys, .sc, .acq_rel, .acquire, .release")
def fence(e: Emitter) -> None:
    """membar, fence."""
    e.drop(lambda m: m in ("cta", "gl", "gpu", "cluster", "sys", "sc", "acq_rel", "acquire", "release"))
    e.operands(0)
    e.emit(Op.MEMBAR, None)
