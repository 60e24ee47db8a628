"""Instructions that read other lanes: vote, shfl, match, redux, activemask, elect.

They see the lanes that execute them together. The membership mask of shfl is not encoded: see `place_members`.
"""

from warploom.arch.isa import Op
from warploom.arch.modifiers import Atom, Cond, DType, Shuffle, Special, Vote
from warploom.compiler import ptx
from warploom.compiler.emitter import SINK, Emitter, Target, constant
from warploom.compiler.ir import Function, Label, Node, VirtualRegister
from warploom.compiler.origins import Origins
from warploom.compiler.registry import lowers

FULL = ptx.Immediate("int", 0xFFFFFFFF)


def _operands(e: Emitter, count: int) -> tuple[bool, tuple[ptx.Operand, ...]]:
    """Whether there is .sync, `count` operands and the membership mask; forms without .sync have none and mean all
    lanes."""
    sync = e.flag("sync")
    return sync, e.operands(count + 1) if sync else (*e.operands(count), FULL)


def _pair(e: Emitter, d: ptx.Operand, type_: str) -> tuple[Target, VirtualRegister | None]:
    """Destinations of ``d|p``: the value, and the predicate or None."""
    value, predicate = (d.first, d.second) if isinstance(d, ptx.Pair) else (d, SINK)
    return e.destination(value, type_), e.destination(predicate, "pred")[0]


@lowers("vote", types=("pred",), supports=".all, .any, .uni.pred and .ballot.b32, with or without .sync")
def vote(e: Emitter) -> None:
    """vote.all, .any, .uni."""
    mode = e.choose({"all": Vote.ALL, "any": Vote.ANY, "uni": Vote.UNI})
    sync, (d, a, members) = _operands(e, 2)
    e.emit(Op.VOTE, None, e.number(members), pdst=e.destination(d, "pred")[0], psrc=e.predicate(a), vote=mode,
           sync=sync)


@lowers("vote", types=("b32",), supports=".all, .any, .uni.pred and .ballot.b32, with or without .sync")
def ballot(e: Emitter) -> None:
    """vote.ballot."""
    e.choose({"ballot": True})
    sync, (d, a, members) = _operands(e, 2)
    e.emit(Op.VOTE, e.destination(d, "b32")[0], e.number(members), psrc=e.predicate(a), vote=Vote.BALLOT,
           sync=sync)


@lowers("shfl", types=("b32", "u32", "s32", "f32"), supports=".up, .down, .bfly, .idx.b32, with or without .sync")
def shuffle(e: Emitter) -> None:
    """shfl: value and whether the source lane was in range."""
    mode = e.choose({mode.name.lower(): mode for mode in Shuffle})
    sync, (d, *sources) = _operands(e, 4)
    a, (b, c, members) = e.word(sources[0], e.type), map(e.number, sources[1:])
    (dst,), in_range = _pair(e, d, e.type)
    if sync:
        e.emit(Op.VOTE, None, members, vote=Vote.ALL, sync=True)
    e.emit(Op.SHFL, dst, a, b, c, pdst=in_range, shuffle=mode, sync=sync)


def place_members(function: Function) -> None:
    """Check the mask of each shfl.sync once: lowering puts a vote without a result before it, for which the lanes in
    the mask have to meet. If the mask has all lanes, the shuffle itself names the ones that have to be there, and the
    vote is removed. If it has not, the shuffle may read lanes that are elsewhere, as PTX lets it. (Of a shuffle whose
    result nobody reads, only the vote is left by now.)"""
    origins, kept = Origins(function), list[Node | Label]()
    vote, members = -1, origins.constant(None)  # the last vote: its place in `kept`, and its mask if that is constant
    for item in function.body:
        if isinstance(item, Node) and item.op is Op.VOTE:
            vote, members = len(kept), origins.constant(item.src[0])
        elif isinstance(item, Node) and item.op is Op.SHFL and item.modifiers.get("sync"):
            if members == FULL.value:
                del kept[vote]
            else:
                del item.modifiers["sync"]
        kept.append(item)
    function.body = kept


@lowers("match", types=("b32", "b64"), supports=".any.sync and .all.sync of .b32 and .b64")
def match(e: Emitter) -> None:
    """match: lanes with the same value."""
    match_all = e.choose({"any": False, "all": True})
    e.choose({"sync": True})
    d, a, members = e.operands(3)
    low, *high = e.words(a, e.type)
    (dst,), same = _pair(e, d, "b32")
    e.emit(Op.MATCH, dst, low, high[0] if high else None, e.number(members), pdst=same, match_all=match_all,
           wide=bool(high), sync=True)


@lowers("redux", types=("b32", "u32", "s32"), supports=".sync.add, .min, .max of 32-bit integers, .and, .or, .xor.b32")
def reduce(e: Emitter) -> None:
    """redux.sync: one value for the whole warp."""
    e.choose({"sync": True})
    operators = (Atom.AND, Atom.OR, Atom.XOR) if e.type == "b32" else (Atom.ADD, Atom.MIN, Atom.MAX)
    operator = e.choose({operator.name.lower(): operator for operator in operators})
    d, (a,), (members,) = e.unpack(e.type, e.type, "b32")
    e.emit(Op.REDUX, d[0], a, members, atom=operator, src_type=DType.S32 if e.type == "s32" else DType.U32, sync=True)


@lowers("activemask", types=("b32",), supports=".b32")
def active_mask(e: Emitter) -> None:
    """activemask."""
    (d,) = e.operands(1)
    e.emit(Op.S2R, e.destination(d, "b32")[0], special=Special.ACTIVEMASK)


@lowers("elect", types=(None,), supports=".sync")
def elect(e: Emitter) -> None:
    """elect.sync: the lowest lane of the mask that executes it."""
    e.choose({"sync": True})
    d, members = e.operands(2)
    (lane,), elected = _pair(e, d, "b32")
    present = e.op(Op.VOTE, e.number(members), vote=Vote.BALLOT, sync=True)
    leader = e.op(Op.ISUB, constant(31), e.op(Op.FLO, e.op(Op.BREV, present)))
    e.emit(Op.ISETP, None, leader, e.op(Op.S2R, special=Special.LANEID), pdst=elected, cond=Cond.EQ)
    e.move((lane,), (leader,))
