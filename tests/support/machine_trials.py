"""Trials of single machine instructions: one operand is unknown to the compiler, a constant, or a parameter.

Bodies consist of nodes, so that every form occurs, independent of the lowering of PTX.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from support.forms import TYPES, is_legal
from support.random_function import empty_function

from warploom.arch.isa import MEMORY_OPS, MODIFIERS, Instruction, Op, Pipe
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.memory_map import GLOBALS_BASE
from warploom.arch.modifiers import MODIFIER_KINDS, Access, Atom, Cond, DType, Kind, Space, Special, Vote
from warploom.arch.program import Parameter
from warploom.compiler.allocate import allocate
from warploom.compiler.emit import emit
from warploom.compiler.ir import Function, Imm, Node, Operand, Param, RegisterClass, VirtualRegister
from warploom.compiler.simplify import simplify
from warploom.golden_model.front_end.hazards import has_wide_result
from warploom.golden_model.functional.executor import execute

WORDS = (0, 1, 0xFFFFFFFF, 16, 1 << 31, 0x3F800000)
"""0, 1, -1, powers of two, and 1.0."""

PLACES = {Space.SHARED: (0, 8, 128), Space.GLOBAL: (GLOBALS_BASE, GLOBALS_BASE + 8)}
"""Addresses, and low words of such."""

BANK = tuple(dict.fromkeys([*WORDS, *(place for places in PLACES.values() for place in places)]))
"""The words of the parameter bank, behind the address of the results."""

FORMS = 12
"""For operations with many forms, about this number of them, evenly spaced."""

SOME = {(Op.REDUX, "atom"): (Atom.ADD, Atom.MIN, Atom.MAX, Atom.AND, Atom.OR, Atom.XOR),
        (Op.REDUX, "src_type"): (DType.U32, DType.S32), (Op.VOTE, "vote"): [v for v in Vote if v is not Vote.POPC],
        (Op.ISETP, "cond"): [Cond(number) for number in range(6)],  # the others are of floats
        (Op.DP4A, "src_type"): (DType.U8, DType.S8), (Op.DP4A, "dst_type"): (DType.U8, DType.S8)}
"""The values of a modifier that an operation accepts, if others accept more."""

VALUES = {"lut": range(256), "src_type": TYPES, "dst_type": TYPES,
          **dict.fromkeys((name for name, kind in MODIFIER_KINDS.items() if kind is Kind.FLAG), (False, True))}

NO_RESULT = (Op.ISETP, Op.FSETP, Op.TESTP, Op.DSETP, Op.ST, Op.RED)
PREDICATE_RESULT = (Op.ISETP, Op.FSETP, Op.TESTP, Op.DSETP, Op.IADD, Op.ISUB, Op.IMAD, Op.SHFL)
PREDICATE_OPERAND = (Op.IADD, Op.ISUB, Op.IMAD, Op.SEL, Op.ISETP, Op.FSETP, Op.DSETP, Op.VOTE)
DATA_OPS = [op for op in Op if op < Op.LATCH and op not in (Op.S2R, *MEMORY_OPS)]


def data_forms(op: Op) -> list[Instruction]:
    """Forms of an operation without an address."""
    names = MODIFIERS.get(op, ())
    choices = [SOME.get((op, name)) or VALUES.get(name) or list(MODIFIER_KINDS[name].value[1]) for name in names]
    forms = [Instruction(op=op, **dict(zip(names, chosen, strict=True))) for chosen in itertools.product(*choices)]
    return [form for form in forms[:: len(forms) // FORMS | 1] if is_legal(form)]


def memory_forms(space: Space) -> Iterator[Instruction]:
    """Loads, stores, atomics and reductions in a space, of words and of pairs."""
    wide = space is Space.GLOBAL
    for op in (Op.LD, Op.ST):
        yield from (Instruction(op=op, space=space, access=access, wide=wide) for access in (Access.B32, Access.U8))
    for op, atom, kind in ((op, atom, kind) for op in (Op.ATOM, Op.RED) for atom in Atom for kind in (
            DType.U32, DType.S32, DType.U64, DType.S64)):
        if atom not in (Atom.INC, Atom.DEC) or kind is DType.U32:
            yield Instruction(op=op, space=space, atom=atom, dst_type=kind, wide=wide)


class Trials:
    """A straight-line body whose results go to memory, one row after the other; `groups` are their numbers by trial:
    those of the unknown operand, then those of each other source, with its description."""

    def __init__(self) -> None:
        self.function: Function = replace(empty_function(), parameters=(Parameter("out", "b64", 0, 8), *(
            Parameter(f"v{n}", "b32", 8 + 4 * n, 4) for n in range(len(BANK)))))
        self.function.kernel.globals, self.function.kernel.shared_bytes = bytes(1024), 1024
        self.rows = 0
        self.groups: list[list[tuple[str, range]]] = []
        self.lane = self._node(Op.S2R, special=Special.LANEID)
        self.zero = self._node(Op.LOP3, self.lane, self.lane, lut=0x3C)  # lane ^ lane, which the compiler cannot know
        self.data = [self._node(Op.IMUL, self.lane, Imm(factor)) for factor in (0x9E3779B1, 0x01000193, 0x7F4A7C15)]
        self.offset = self._node(Op.SHF, None, self.lane, Imm(3))
        self.predicate = self._compare(11)

    def add(self, form: Instruction, slot: int, word: int, *, alone: bool) -> None:
        """An instruction with a word in one of its operand slots (a latched one has six), from every kind of source. If
        it is `alone`, the other data are zero."""
        unknown = self._node(Op.IADD, self.zero, Imm(word) if word else None)
        constant = self._node(Op.MOV, Imm(word) if word else None)
        parameter = self._node(Op.MOV, Param(8 + 4 * BANK.index(word)))
        named = " ".join(f"{name}={getattr(form, name)!s}" for name in MODIFIERS.get(form.op, ()))
        what = f"{form.op.name} {named}: slot {slot} = {word:#x}{' alone' * alone} as"
        data: list[Operand] = [None] * 3 if alone else [*self.data]
        self.groups.append([(f"{what} {name}", self._use(form, slot, operand, data)) for name, operand in (
            ("a register", unknown), ("a constant", constant), ("a parameter", parameter))])

    def differences(self) -> Iterator[str]:
        """A line for each source whose effect differs from that of the unknown operand."""
        out = np.zeros((self.rows, 32), np.uint32)
        self._append(Op.EXIT, None)
        simplify(self.function)
        program = emit(self.function, allocate(self.function)).program
        bank = [Scalar("b32", word.to_bytes(4, "little")) for word in BANK]
        launch = Launch((1, 1, 1), (32, 1, 1), (Buffer("out", out), *bank))
        out = execute(program, launch).buffers["out"]
        for (_, reference), *others in self.groups:
            for what, rows in others:
                if (out[rows.start : rows.stop] != out[reference.start : reference.stop]).any():
                    yield what

    def _use(self, form: Instruction, slot: int, operand: VirtualRegister, data: list[Operand]) -> range:
        first = self.rows
        operands = [*data, *data]
        fields = {name: getattr(form, name) for name in MODIFIERS.get(form.op, ()) if int(getattr(form, name))}
        memory = form.pipe is Pipe.MEM and form.op is not Op.SHFL
        if memory:
            operands = [*self._place(form), None if form.op is Op.LD else data[0], *data[1:], data[0]]
            for half, word in enumerate(self.data[:2]):
                self._append(Op.ST, None, *self._place(form), word, imm=4 * half, **self._access(form))
        if not form.latched:
            operands = operands[:3]
        operands[slot] = operand
        if form.latched:
            self._append(Op.LATCH, None, *operands[:3], **({"memory": True} if memory else {}))
        votes = form.op is Op.VOTE and form.vote is not Vote.BALLOT
        dst = None if form.op in NO_RESULT or votes else self.function.new()
        pdst = self.function.new(RegisterClass.PREDICATE) if form.op in PREDICATE_RESULT or votes else None
        psrc = self.predicate if form.op in PREDICATE_OPERAND else None
        self._append(form.op, dst, *operands[-3:], pdst=pdst, psrc=psrc, **fields)
        if dst is not None and has_wide_result(form):
            self._store(self._node(Op.HIGH, **({"memory": True} if memory else {})))
        if dst is not None:
            self._store(dst)
        if pdst is not None:
            self._store(self._node(Op.SEL, Imm(1), psrc=pdst))
        for half in range(2 * memory):
            self._store(self._node(Op.LD, *self._place(form), imm=4 * half, **self._access(form)))
        return range(first, self.rows)

    def _place(self, form: Instruction) -> tuple[VirtualRegister, Operand]:
        """The lane's own pair of words in the space of a memory instruction."""
        if form.space is Space.SHARED:
            return self.offset, None
        return self._node(Op.IADD, self.offset, Imm(GLOBALS_BASE)), self.zero

    @staticmethod
    def _access(form: Instruction) -> dict[str, object]:
        return {"space": form.space, "access": Access.B32, **({"wide": True} if form.wide else {})}

    def _store(self, word: VirtualRegister) -> None:
        """A row of the results."""
        carry = self.function.new(RegisterClass.PREDICATE)
        low = self._node(Op.SHF, None, self.lane, Imm(2))
        low, high = self._node(Op.IADD, low, Param(0), pdst=carry), self._node(Op.IADD, None, Param(4), psrc=carry)
        place = {"space": Space.GLOBAL, "access": Access.B32, "wide": True}
        self._append(Op.ST, None, low, high, word, imm=128 * self.rows, **place)
        self.rows += 1

    def _compare(self, limit: int) -> VirtualRegister:
        """A predicate that holds in the lanes below a limit."""
        made = self.function.new(RegisterClass.PREDICATE)
        self._append(Op.ISETP, None, self.lane, Imm(limit), pdst=made, cond=Cond.LT)
        return made

    def _node(self, op: Op, *src: Operand, **fields: object) -> VirtualRegister:
        dst = self.function.new()
        self._append(op, dst, *src, **fields)
        return dst

    def _append(self, op: Op, dst: VirtualRegister | None, *src: Operand, **fields: object) -> None:
        own = {name: fields.pop(name) for name in ("psrc", "pdst", "imm") if name in fields}
        slots = [*src, None, None, None][:3]
        self.function.body.append(Node(op, dst, slots, modifiers=fields, **own))  # type: ignore[arg-type]
