"""cp.async: copies from global to shared memory, made at once, so that a program has nothing to wait for."""

from dataclasses import replace

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Cond
from warploom.compiler import ptx
from warploom.compiler.emitter import Emitter, constant, known
from warploom.compiler.ir import Label, Node, Operand
from warploom.compiler.lower_memory import Place, behind, drop_hints, place
from warploom.compiler.registry import NO_TYPE, lowers
from warploom.compiler.truth import AND

SIZES = (4, 8, 16)

SUPPORTS = ".async.ca.shared.global of 4, 8 or 16 bytes, .async.cg of 16; .async.commit_group, .wait_group, .wait_all"


@lowers("cp", types=NO_TYPE, supports=SUPPORTS)
def copy(e: Emitter) -> None:
    """cp.async: bytes from the source size on are zeros, and not read."""
    e.choose({"async": True})
    if e.flag("commit_group") or e.flag("wait_group") or e.flag("wait_all"):
        return
    if e.flag("bulk"):
        e.fail(f"bulk copies are not supported; supported: {SUPPORTS}")
    is_whole = e.choose({"ca": False, "cg": True})
    drop_hints(e)
    to, from_, bytes_, *rest = e.operands(3, 4)
    size = known(e.number(bytes_))
    if size not in SIZES or (is_whole and size != SIZES[-1]):
        e.fail("the size must be 4, 8 or 16, with .cg 16")
    source = replace(place(e, from_), alignment=size)  # takes .global, and leaves .shared for the target
    target = replace(place(e, to), alignment=size)
    count = _count(e, rest[0], size) if rest else constant(size)
    if (number := known(count)) is None:
        _copy_some(e, target, source, size, count)
    else:
        _copy_known(e, target, source, size, number)


def _count(e: Emitter, operand: ptx.Operand, size: int) -> Operand:
    """The bytes to read: the source size, or none where the predicate that stands in its place holds."""
    is_predicate = isinstance(operand, ptx.Not) or (
        isinstance(operand, ptx.Register) and e.register_width(operand) == 1)
    if not is_predicate:
        return e.number(operand)
    ignored, inverted = e.predicate(operand)
    return e.op(Op.SEL, constant(size), None, psrc=(ignored, not inverted))


def _copy_known(e: Emitter, target: Place, source: Place, size: int, count: int) -> None:
    """Copy `count` bytes, and store zeros behind them."""
    if count > size:
        e.fail(f"the source size {count} is more than the size {size}")
    whole = count & ~3
    words = [_load(e, source, at, Access.B32) for at in range(0, whole, 4)]
    rest = [_load(e, source, at, Access.U8) for at in range(whole, count)]
    for at in range(0, size, 4):
        _store(e, target, at, Access.B32, words[at // 4] if at < whole else None)
    for at, byte in enumerate(rest, whole):
        _store(e, target, at, Access.U8, byte)


def _copy_some(e: Emitter, target: Place, source: Place, size: int, count: Operand) -> None:
    """Store zeros, then copy the words that `count` covers, and the bytes behind them. Lanes whose guard fails jump
    over it, because the copies have guards of their own."""
    count = e.op(Op.IMIN, count, constant(size))
    end = Label(f"$copy{e.function.count}_end")
    if e.instruction.guard is not None:
        guard, inverted = e.predicate(e.instruction.guard)
        e.append(Node(Op.BRA, guard=guard, guard_not=not inverted, target=end.name, line=e.instruction.line))
    for at in range(0, size, 4):
        _store(e, target, at, Access.B32, None)
    for at in range(0, size, 4):
        _copy_covered(e, count, target, source, at=at, access=Access.B32)
    whole, rest = e.logic(AND, count, constant(~3)), e.logic(AND, count, constant(3))
    rests = behind(e, target, whole), behind(e, source, whole)
    for at in range(3):
        _copy_covered(e, rest, *rests, at=at, access=Access.U8)
    e.append(end)


def _copy_covered(e: Emitter, count: Operand, target: Place, source: Place, *, at: int, access: Access) -> None:
    """Copy the part at byte `at` if `count` covers it."""
    covered = e.temp_predicate()
    e.emit(Op.ISETP, None, count, constant(at + access.size), pdst=covered, cond=Cond.GE)
    before = len(e.nodes)
    _store(e, target, at, access, _load(e, source, at, access))
    for node in e.nodes[before:]:
        assert isinstance(node, Node)
        node.guard = covered


def _load(e: Emitter, source: Place, at: int, access: Access) -> Operand:
    return e.op(Op.LD, *source.slots, access=access, **source.part(at))


def _store(e: Emitter, target: Place, at: int, access: Access, value: Operand) -> None:
    e.emit(Op.ST, None, *target.slots, value, access=access, **target.part(at))
