"""Random structured programs, and an interpreter that runs them one thread at a time: the reference for divergence."""

import random
from typing import NamedTuple

from support.assembler import Assembler, Imm

from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.modifiers import Cond, Special
from warploom.arch.program import Program

WORD = 0xFFFFFFFF
REGISTERS = 8


class RandomProgram(Assembler):
    """Nested conditionals, loops with breaks, guarded instructions and early exits over a few registers. `meet` says
    whether branches name their reconvergence points."""

    def __init__(self, seed: int, *, meet: bool) -> None:
        super().__init__()
        self.random, self.meet, self._names = random.Random(seed), meet, 0
        self.op(Op.S2R, 0, special=Special.TID_X)
        self.op(Op.S2R, 1, special=Special.CTAID_X)
        self.op(Op.IMUL, 2, 0, Imm(2654435761))
        self.body(3, None)
        self.op(Op.EXIT)

    def name(self) -> str:
        """A new label."""
        self._names += 1
        return f"L{self._names}"

    def body(self, depth: int, leave: str | None) -> None:
        """Some statements; `leave` is the end of the innermost loop."""
        for _ in range(self.random.randint(1, 4)):
            kinds = [self.compute] * 3 + ([self.conditional, self.loop] if depth else [])
            self.random.choice(kinds)(depth, leave)
        if self.random.random() < 0.1:
            self.compare(2)
            self.op(Op.EXIT, guard=2)

    def compare(self, predicate: int) -> None:
        """Sets a predicate from two bits of a register, so that lanes differ."""
        self.op(Op.LOP3, 7, self.random.randrange(REGISTERS - 1), Imm(3 << self.random.randrange(4)), lut=0xC0)
        self.op(Op.ISETP, RZ, 7, RZ, cond=self.random.choice([Cond.EQ, Cond.NE]), pdst=predicate)

    def compute(self, depth: int, leave: str | None) -> None:
        """An instruction, possibly guarded."""
        pick = self.random.randrange
        op = self.random.choice([Op.IADD, Op.IMAD, Op.LOP3])
        guard = self.random.choice([PT, PT, 2, 3])
        self.op(op, 2 + pick(4), pick(6), pick(6), pick(6), guard=guard, guard_not=guard != PT and pick(2) == 1,
                **({"lut": 0x96} if op is Op.LOP3 else {}))

    def conditional(self, depth: int, leave: str | None) -> None:
        """if, if-else, or a conditional break."""
        other, end = self.name(), self.name()
        self.compare(2)
        if leave is not None and self.random.random() < 0.3:
            self.branch(leave, reconverge=leave if self.meet else None, guard=2, taken_first=self.random.random() < 0.5)
            return
        self.branch(other, reconverge=end if self.meet else None, guard=2, taken_first=self.random.random() < 0.5)
        self.body(depth - 1, leave)
        self.branch(end, reconverge=end if self.meet else None)
        self.label(other)
        if self.random.random() < 0.5:
            self.body(depth - 1, leave)
        self.label(end)

    def loop(self, depth: int, leave: str | None) -> None:
        """A loop whose trip count differs from lane to lane; its counter is a separate register."""
        top, end, counter = self.name(), self.name(), REGISTERS + depth
        self.op(Op.LOP3, counter, self.random.randrange(6), Imm(3), lut=0xC0)
        self.label(top)
        self.body(depth - 1, end)
        self.op(Op.ISETP, RZ, counter, RZ, cond=Cond.NE, pdst=3)
        self.op(Op.IADD, counter, counter, Imm(-1))
        self.branch(top, reconverge=end if self.meet else None, guard=3, taken_first=self.random.random() < 0.5)
        self.label(end)


class Thread(NamedTuple):
    """A finished thread: its registers, and the pcs it executed."""

    registers: list[int]
    pcs: list[int]


def run_thread(program: Program, thread: int, block: int) -> Thread:
    """Run one thread alone."""
    registers, predicates, pcs, pc = [0] * program.names, [False] * 7 + [True], [], 0

    def read(i: Instruction, slot: int) -> int:
        if slot == i.imm_slot:
            return i.imm
        return 0 if i.src[slot] == RZ else registers[i.src[slot]]

    while True:
        i = program.instructions[pc]
        here, pc = pc, pc + 1
        if predicates[i.guard] == i.guard_not:
            continue
        pcs.append(here)
        a, b, c = (read(i, slot) for slot in range(3))
        if i.op is Op.EXIT:
            return Thread(registers, pcs)
        if i.op is Op.BRA:
            pc = i.imm
        elif i.op is Op.ISETP:
            predicates[i.pdst] = (a == b) == (i.cond is Cond.EQ)
        else:
            registers[i.dst] = {
                Op.S2R: thread if i.special is Special.TID_X else block, Op.IADD: a + b, Op.IMUL: a * b,
                Op.IMAD: a * b + c, Op.LOP3: a & b if i.lut == 0xC0 else a ^ b ^ c,
            }[i.op] & WORD
