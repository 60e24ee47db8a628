"""Branches, exits, barriers and fences."""

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

from warploom.arch.errors import PtxError
from warploom.arch.isa import BARRIERS, Op
from warploom.arch.modifiers import Cond, Vote
from warploom.compiler import ptx
from warploom.compiler.emitter import Emitter, constant, known
from warploom.compiler.ir import Function, Label, Node, Operand, RegisterClass, VirtualRegister
from warploom.compiler.origins import Origins
from warploom.compiler.pointer_calls import STOP
from warploom.compiler.registry import NO_TYPE, lowers

MAX_COUNT = 1024

NO_BARRIER = f"the barrier number must be from 0 to {BARRIERS - 1}"

BARRIER_FORMS = ".sync, .arrive and .red (.popc.u32, .and.pred, .or.pred) with a constant thread count"


@lowers("bra", types=NO_TYPE, supports="a label, .uni")
def branch(e: Emitter) -> None:
    """bra."""
    e.flag("uni")
    (target,) = e.operands(1)
    if not isinstance(target, ptx.Symbol):
        e.fail("a label is required")
    e.emit(Op.BRA, None, target=target.name)


@lowers("ret", types=NO_TYPE, supports="alone or with .uni")
@lowers("exit", types=NO_TYPE, supports="alone")
def leave(e: Emitter) -> None:
    """ret and exit of an entry."""
    if e.instruction.opcode == "ret":
        e.flag("uni")
    e.operands(0)
    e.emit(Op.EXIT, None)


@lowers(STOP, types=NO_TYPE, supports="")
def stop(e: Emitter) -> None:
    """Where a call through a pointer goes wrong."""
    (number,) = e.operands(1)
    e.emit(Op.TRAP, None, imm=known(e.number(number)) or 0)


@lowers("trap", "brkpt", types=NO_TYPE, supports="an error that ends the kernel")
def trap(e: Emitter) -> None:
    """trap, brkpt."""
    e.operands(0)
    e.emit(Op.TRAP, None)


def _count(e: Emitter, given: list[ptx.Operand], least: int = 0) -> tuple[int, tuple[Operand, ...]]:
    """The thread count of a barrier if it is known, else the operand: see `place_barriers`. 0 is the whole block."""
    if not given:
        return 0, ()
    operand = e.number(given[0])
    return (0, (operand,)) if isinstance(operand, VirtualRegister) else (_checked(known(operand), least, e.fail), ())


def _checked(count: int | None, least: int, fail: Callable[[str], NoReturn]) -> int:
    """A thread count that a barrier can have."""
    if count is None or not least <= count <= MAX_COUNT or count % 32:
        fail(f"the thread count must be a constant multiple of 32, from {least} to {MAX_COUNT}")
    return count


def place_barriers(function: Function) -> None:
    """Move what barriers have in operand slots to fields: the number, which lowering leaves in slot 0, to `imm`, and a
    thread count from slot 1 to `count`.

    Both may come through copies, for example as arguments of an inlined function. For a number that is not constant
    there is a barrier of each number. Raises `PtxError` for a number that is too large, and for a count that is not
    constant or too large.
    """
    origins, body = Origins(function), list[Node | Label]()
    for item in function.body:
        if isinstance(item, Node) and item.op in (Op.BAR, Op.BARRED):
            body += _place_barrier(item, function, origins)
        else:
            body.append(item)
    function.body = body


def _place_barrier(node: Node, function: Function, origins: Origins) -> list[Node | Label]:
    def fail(what: str) -> NoReturn:
        raise PtxError(what, file=function.kernel.file, line=node.line)

    operand, (number, given) = node.src[0], map(origins.constant, node.src[:2])
    if count := node.modifiers.get("count") or _checked(given, 32 * bool(node.modifiers.get("arrive")), fail):
        node.modifiers["count"] = count
    node.src[:2] = None, None
    if number is None:
        return _by_number(node, operand, function)
    if number >= BARRIERS:
        fail(NO_BARRIER)
    return [replace(node, imm=number)]


def _by_number(node: Node, number: Operand, function: Function) -> list[Node | Label]:
    """A tree of comparisons that ends in a barrier of each number, or in a stop for larger numbers. All lanes of a warp
    have the same number."""
    scratch, body = function.new(RegisterClass.PREDICATE), list[Node | Label]()
    end = f"$barrier{function.count}"
    kernel = function.kernel
    if NO_BARRIER not in kernel.stops:
        kernel.stops = (*kernel.stops, NO_BARRIER)
    stop = Node(Op.TRAP, guard=node.guard, guard_not=node.guard_not, imm=kernel.stops.index(NO_BARRIER) + 1,
                line=node.line)

    def branch(target: str, guard: VirtualRegister | None = None) -> Node:
        return Node(Op.BRA, guard=guard, target=target, line=node.line)

    def tree(first: int, last: int) -> None:
        if first == last:
            found = replace(node, imm=first, src=[*node.src], modifiers={**node.modifiers})
            body.extend((found if first < BARRIERS else stop, branch(end)))
            return
        middle = (first + last + 1) // 2
        lower = f"{end}@{middle}"
        body.append(Node(Op.ISETP, src=[number, constant(middle), None], pdst=scratch, line=node.line,
                         modifiers={"cond": Cond.LT}))
        body.append(branch(lower, scratch))
        tree(middle, last)
        body.append(Label(lower))
        tree(first, middle - 1)

    tree(0, BARRIERS)
    body.append(Label(end))
    return body


@lowers("bar", "barrier", types=NO_TYPE, supports=f"{BARRIER_FORMS}; bar.warp.sync")
def barrier(e: Emitter) -> None:
    """bar.sync, bar.arrive; bar.warp.sync is a vote without a result, for which lanes have to meet."""
    if e.flag("warp"):
        e.choose({"sync": True})
        (members,) = e.operands(1)
        e.emit(Op.VOTE, None, e.number(members), vote=Vote.ALL, sync=True)
        return
    e.flag("cta")
    e.flag("aligned")
    arrive = e.choose({"sync": False, "arrive": True})
    number, *given = e.operands(2) if arrive else e.operands(1, 2)
    count, rest = _count(e, given, 32 * arrive)
    e.emit(Op.BAR, None, e.number(number), *rest, count=count, arrive=arrive)


@lowers("bar", "barrier", types=("u32", "pred"), supports=f"{BARRIER_FORMS}; bar.warp.sync")
def barrier_reduce(e: Emitter) -> None:
    """bar.red: a barrier that reduces a predicate over the block."""
    e.flag("cta")
    e.flag("aligned")
    e.choose({"red": True})
    is_count = e.type == "u32"
    mode = e.choose({"popc": Vote.POPC} if is_count else {"and": Vote.ALL, "or": Vote.ANY})
    d, number, *given, p = e.operands(3, 4)
    dst = e.destination(d, e.type)[0]
    count, rest = _count(e, given)
    e.emit(Op.BARRED, dst if is_count else None, e.number(number), *rest, pdst=None if is_count else dst,
           psrc=e.predicate(p), count=count, vote=mode)


@lowers("membar", types=NO_TYPE, supports=".cta, .gl, .sys, .proxy.alias")
def old_fence(e: Emitter) -> None:
    """membar."""
    if e.flag("proxy"):
        e.choose({"alias": True})
    else:
        e.choose({"cta": True, "gl": True, "sys": True})
    e.operands(0)
    e.emit(Op.MEMBAR, None)


@lowers("fence", types=NO_TYPE,
        supports=".cta, .cluster, .gpu, .sys, .sc, .acq_rel, .acquire, .release, .proxy.alias, .proxy.async")
def fence(e: Emitter) -> None:
    """fence. All accesses go the same way here, so that a fence between proxies orders nothing more."""
    if e.flag("proxy"):
        e.choose({"alias": True, "async": True})
        e.drop(lambda m: m in ("global", "shared::cta", "shared::cluster"))
    e.drop(lambda m: m in ("cta", "gpu", "cluster", "sys", "sc", "acq_rel", "acquire", "release"))
    e.operands(0)
    e.emit(Op.MEMBAR, None)
