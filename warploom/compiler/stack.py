"""What calls of recursive functions keep on the stack: the registers that they need later, and where they return to.

All code of a region is reached again before a call returns, so each register that the region writes has another value
behind the call. Those that are live there are saved before it, and restored behind it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from warploom.arch.isa import Op
from warploom.arch.modifiers import Access, Cond, Space
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.ir import Function, Imm, Label, Node, Operand, RegisterClass, VirtualRegister
from warploom.compiler.liveness import Liveness
from warploom.compiler.ptx import Call
from warploom.compiler.recursion import NUMBER_BYTES, OUTERMOST, returning
from warploom.compiler.symbols import STACK

WORD_BYTES = 4

LOCAL = {"space": Space.LOCAL, "access": Access.B32}


def add_frames(function: Function) -> None:
    """Add to the calls of recursive functions what saves and restores registers, and moves the stack pointer."""
    kernel = function.kernel
    if not kernel.calls:
        return
    saved = _saved(function)
    added: dict[str, list[Node]] = {}
    for call in kernel.calls:
        frame = _Frame(function, call, saved[call])
        added[call.leaves], added[call.site] = list(frame.pushed()), list(frame.popped())
    body: list[Node | Label] = []
    for item in function.body:
        body.append(item)
        if isinstance(item, Label):
            body += added.get(item.name, ())
    function.body = body


class _Frame:
    """What a call adds to the stack: behind the variables of the caller the registers that it saves, and at the end
    the number of the return site."""

    def __init__(self, function: Function, call: Call, saved: list[VirtualRegister]) -> None:
        self._function, self._call, self._saved = function, call, saved
        kernel, (self._pointer,) = function.kernel, function.names[STACK]
        stack = kernel.variables[STACK]
        self._base, self._end = kernel.base[STACK], kernel.base[STACK] + stack.size
        own = call.caller.size if call.caller else 0
        self._start = -(-own // WORD_BYTES) * WORD_BYTES
        size = self._start + WORD_BYTES * len(saved) + NUMBER_BYTES
        self._size = -(-size // stack.alignment) * stack.alignment

    def pushed(self) -> Iterator[Node]:
        """What stands before the branch to the function."""
        if not self._call.caller:
            yield self._node(Op.MOV, self._pointer, [Imm(self._base) if self._base else None, None, None])
        full = self._function.new(RegisterClass.PREDICATE, local=True)
        limit = self._end - self._size - self._call.callee.size
        yield self._node(Op.ISETP, None, [self._pointer, Imm(limit & 0xFFFFFFFF) if limit else None, None],
                         pdst=full, modifiers={"cond": Cond.GT, "signed": True})
        yield self._node(Op.TRAP, None, [None, None, None], guard=full, imm=self._call.stop)
        for offset, register in self._slots:
            yield from self._store(register, offset)
        number = self._function.new(local=True)
        constant = OUTERMOST if self._call.enters else self._call.number
        yield self._node(Op.MOV, number, [Imm(constant) if constant else None, None, None])
        yield from self._store(number, self._size - NUMBER_BYTES)
        yield self._moved(self._size)

    def popped(self) -> Iterator[Node]:
        """What stands where the function returns to. Outside of recursive functions nobody reads the pointer."""
        if self._call.caller:
            yield self._moved(-self._size)
        for offset, register in self._slots:
            if not register.is_predicate:
                yield self._load(register, offset)
                continue
            word = self._function.new(local=True)
            yield self._load(word, offset)
            yield self._node(Op.ISETP, None, [word, None, None], pdst=register, modifiers={"cond": Cond.NE})

    @property
    def _slots(self) -> Iterator[tuple[int, VirtualRegister]]:
        return ((self._start + WORD_BYTES * index, register) for index, register in enumerate(self._saved))

    def _store(self, register: VirtualRegister, offset: int) -> Iterator[Node]:
        word = register
        if register.is_predicate:
            word = self._function.new(local=True)
            yield self._node(Op.SEL, word, [Imm(1), None, None], psrc=register)
        yield self._node(Op.ST, None, [self._pointer, None, word], imm=offset, modifiers=dict(LOCAL))

    def _load(self, register: VirtualRegister, offset: int) -> Node:
        return self._node(Op.LD, register, [self._pointer, None, None], imm=offset, modifiers=dict(LOCAL))

    def _moved(self, distance: int) -> Node:
        return self._node(Op.IADD, self._pointer, [self._pointer, Imm(distance & 0xFFFFFFFF), None])

    def _node(self, op: Op, dst: VirtualRegister | None, src: list[Operand], **fields: Any) -> Node:
        return Node(op, dst, src, line=self._call.line, **fields)


def _saved(function: Function) -> dict[Call, list[VirtualRegister]]:
    """The registers that each call saves: those that its region writes, and that are live where it returns to."""
    calls = function.kernel.calls
    flow = ControlFlow(_in_place(function.body, calls, function.new(RegisterClass.PREDICATE)))
    liveness = Liveness(flow)
    blocks = {name: index for index, block in enumerate(flow.blocks) for name in block.labels}
    written = _written(function)
    return {call: [] if call.enters or call.site not in blocks else
            [register for register in written[call.callee.region] if liveness.enters(blocks[call.site], register)]
            for call in calls}


def _in_place(body: list[Node | Label], calls: Iterable[Call], unknown: VirtualRegister) -> Iterator[Node | Label]:
    """The body in which each call goes on where it returns to, without the returns of functions: all that is live
    there is needed by the caller itself. Functions are reached from where their region is entered. `unknown` is a
    predicate. A stop ends the kernel, so that nothing is live behind it."""
    inner = {call.leaves: call.site for call in calls if not call.enters}
    returns = {returning(call.callee.region): call.site for call in calls if call.enters}
    enters = {call.leaves: call.callee.region for call in calls if call.enters}
    starts: dict[str, dict[str, None]] = {region: {} for region in enters.values()}
    for call in calls:
        starts[call.callee.region][call.callee.start] = None
    until = ""
    for item in body:
        name = item.name if isinstance(item, Label) else ""
        if until and name != until:
            continue
        until = returns.get(name, "")
        yield item
        if name in inner:
            yield Node(Op.BRA, target=inner[name])
        for start in starts[enters[name]] if name in enters else ():
            yield Node(Op.BRA, guard=unknown, target=start)
        if isinstance(item, Node) and item.op is Op.TRAP and item.guard is None:
            yield Node(Op.EXIT)


def _written(function: Function) -> dict[str, list[VirtualRegister]]:
    """The registers that may have another value behind a call in each region: those that it writes, without what is
    only passed, and without constants."""
    nodes = [item for item in function.body if isinstance(item, Node)]
    writes = Counter(register for node in nodes for register in node.writes)
    passed = {register for name, registers in function.names.items() if "@passed" in name for register in registers}
    found: dict[str, list[VirtualRegister]] = {}
    inside: list[str] = []
    enters = {call.leaves: call.callee.region for call in function.kernel.calls if call.enters}
    ends = {call.site for call in function.kernel.calls if call.enters}
    for item in function.body:
        if isinstance(item, Node):
            for register in item.writes if inside else ():
                if register in passed or register.local or (item.rematerialisable and writes[register] == 1):
                    continue
                for region in inside:
                    found[region].append(register)
        elif item.name in enters:
            inside.append(enters[item.name])
            found[inside[-1]] = []
        elif item.name in ends:
            inside.pop()
    return {region: list(dict.fromkeys(registers)) for region, registers in found.items()}
