"""Checks an order of execution against executed traces, by the dependences of each lane: that of hints, or one that
hardware finds. It has nothing of the compiler's analysis: at every stall it executes the whole hint group, as far as
hints lead, or all that was found, as if memory never answered.

Every value is named by the dynamic instruction that wrote it. What an instruction reads must have the same names in
program order and by the hints.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from warploom.arch.isa import PT, RZ, Instruction, Op, Pipe
from warploom.arch.modifiers import Space
from warploom.arch.order_hints import COLLECTED, BranchHint, Hint, fits
from warploom.golden_model.hints.stack import SimtStack
from warploom.golden_model.trace import NONE, Trace, WarpTrace

PREDICATES = 256
"""The place of P0 behind the registers."""

CONTROL_FLOW = (Op.BRA, Op.EXIT, Op.TRAP)
FENCES = (Op.BAR, Op.BARRED, Op.MEMBAR)
STORES = (Op.ST, Op.RED, Op.ATOM)
ALONE = (*FENCES, *STORES, Op.EXIT, Op.TRAP)


Writers = dict[int, np.ndarray]
"""By place: the instruction that wrote each lane."""

Names = dict[int, int]
"""By register: the one that has its latest value."""


class WrongHintError(AssertionError):
    """A hint leads to an instruction that depends on what has not come, or disturbs one that has not executed."""


@dataclass
class Values:
    """The values of a warp by place (registers, then predicates) and lane: the instruction that wrote each, and whether
    memory still has to write it."""

    writers: np.ndarray = field(default_factory=lambda: np.full((PREDICATES + 8, 32), NONE))
    awaited: np.ndarray = field(default_factory=lambda: np.zeros((PREDICATES + 8, 32), bool))

    def copy(self) -> "Values":
        """Values of their own, equal to these."""
        return Values(self.writers.copy(), self.awaited.copy())

    def write(self, instruction: Instruction, index: int, lanes: np.ndarray, place: int) -> None:
        """An instruction writes its result to this register, and its predicate."""
        for found in ([place] if place != RZ else []) + predicate_written(instruction):
            self.writers[found, lanes] = index
            self.awaited[found, lanes] = instruction.pipe is Pipe.MEM

    def arrive(self, instruction: Instruction) -> None:
        """An instruction in order has waited for all that it names."""
        self.awaited[touched(instruction)] = False


def predicate_written(instruction: Instruction) -> list[int]:
    """The place of the predicate that an instruction writes."""
    return [PREDICATES + instruction.pdst] if instruction.pdst != PT else []


def sources(instruction: Instruction) -> list[int]:
    """The places that it reads."""
    return [*instruction.sources, *(PREDICATES + predicate for predicate in instruction.predicates_read)]


def touched(instruction: Instruction) -> list[int]:
    """The places that it reads or writes."""
    written = [instruction.dst] if instruction.dst != RZ else []
    return [*sources(instruction), *written, *predicate_written(instruction)]


@cache
def lanes_of(mask: int) -> np.ndarray:
    """A lane mask as an array of bools."""
    return np.array([mask >> lane & 1 for lane in range(32)], bool)


@dataclass
class Found:
    """How many stalls had a hint group, and how many instructions these executed."""

    groups: int = 0
    executed: int = 0
    renamed: int = 0
    loads: int = 0
    branches: int = 0


Chain = dict[int, int]
"""What executes at a stall, in this order: dynamic instructions, each with the register of its result (`NONE` for a
branch)."""


def check(trace: Trace, most_warps: int = 1 << 30, chain: "Callable[[Follower, int], Chain] | None" = None) -> Found:
    """Check the order of a trace on its first warps: what `chain` gives for a stall of the warp that is followed, or
    the hint group. Raises `WrongHintError`."""
    found = Found()
    for warp in trace.warps[:most_warps]:
        Follower(trace, warp, found, chain or Follower.hint_group).run()
    return found


class Follower:
    """Follows one warp: its `stack` and `values` before the next instruction of `warp`."""

    def __init__(
        self, trace: Trace, warp: WarpTrace, found: Found, chain: "Callable[[Follower, int], Chain]"
    ) -> None:
        self.trace, self.code, self.found = trace, trace.program.instructions, found
        self.warp, self.chain = warp, chain
        self.words = dict(trace.program.order_hints)
        self.pcs, self.masks, self.rows = warp.pc.tolist(), warp.lanes.tolist(), warp.address.tolist()
        self.stack = SimtStack(warp.live)
        self.values = Values()
        self.lost = np.zeros((PREDICATES, 32), bool)  # lanes of registers that have been given to other results

    def run(self) -> None:
        """Execute the warp in program order, and what else may execute at each stall."""
        for index, pc in enumerate(self.pcs):
            instruction, lanes = self.code[pc], lanes_of(self.masks[index])
            assert self.stack.pc == pc
            if self.lost[list(instruction.sources)][:, lanes].any():
                raise WrongHintError(f"{pc}: reads a register that a hint gave to another result")
            if self.values.awaited[touched(instruction)].any():
                self._stall(index)
            self.values.arrive(instruction)
            self.values.write(instruction, index, lanes, instruction.dst)
            if instruction.dst != RZ:
                self.lost[instruction.dst, lanes] = False
            self.stack.step(instruction, self.masks[index])

    def _is_stall_point(self, pc: int) -> bool:
        """Whether an instruction has the hint of a stall point."""
        if pc not in self.words or self.code[pc].op is Op.BRA:
            return False
        hint = Hint.decode(self.words[pc])
        return hint.renamed and hint.dst == RZ

    def _stall(self, stall: int) -> None:
        """The warp stalls here: execute the chain, then go on in order behind it."""
        chain = self.chain(self, stall)
        if not chain:
            return
        self.found.groups += 1
        self.found.executed += len(chain)
        last = max(chain)
        expected, end = self._expected(stall, last)
        values, names = self.values.copy(), {}
        for index, name in chain.items():
            self._begin(index, values, names, expected[index])
            if self.code[self.pcs[index]].op is Op.LD:
                self._passes(stall, index, chain)
            self._finish(index, name, values, names)
        for index in range(stall, last + 1):
            instruction, lanes = self.code[self.pcs[index]], lanes_of(self.masks[index])
            if index not in chain:
                self._compare(index, values, {}, expected[index])
                values.write(instruction, index, lanes, instruction.dst)
            elif (name := chain[index]) not in (NONE, instruction.dst):
                values.writers[instruction.dst, lanes] = values.writers[name, lanes]
        self._compare_end(values, end, stall)

    def hint_group(self, stall: int) -> Chain:
        """The hint group of a stall point; empty for another instruction."""
        base, at, chain = self.pcs[stall], stall, Chain()
        if not self._is_stall_point(base):
            return chain
        target = Hint.decode(self.words[base]).target
        while target and len(chain) < COLLECTED:
            at = self._find(at, base + target)
            if at is None:
                break
            instruction = self.code[self.pcs[at]]
            if not fits(target) or self.pcs[at] not in self.words:
                raise WrongHintError(f"{self.pcs[at]}: no entry can hold it, or it has no hint")
            if instruction.op is Op.BRA:
                if self.stack.diverges(self.masks[at]):
                    break
                hint = BranchHint.decode(self.words[self.pcs[at]])
                chain[at], target = NONE, hint.taken if self.masks[at] else hint.following
            else:
                found = Hint.decode(self.words[self.pcs[at]])
                chain[at], target = found.dst, found.target
        return chain

    def _find(self, at: int, pc: int) -> int | None:
        """The dynamic instruction at a pc that the warp comes to after one of the chain; None if sides join before or
        the trace ends."""
        for index in range(at + 1, len(self.pcs)):
            here = self.pcs[index]
            before = self.code[self.pcs[index - 1]]
            taken = before.op is Op.BRA and self.masks[index - 1]
            came = before.imm if taken else self.pcs[index - 1] + 1
            if came == self.stack.reconverge or here != came:
                return None
            if here == pc:
                return index
            if self.code[here].op in CONTROL_FLOW:
                raise WrongHintError(f"{pc}: the way there passes {here}, a branch or an exit")
        return None

    def _expected(self, stall: int, last: int) -> tuple[dict[int, Writers], Values]:
        """In program order: by dynamic instruction the writers of what it reads, and all values in the end."""
        values, expected = self.values.copy(), dict[int, Writers]()
        for index in range(stall, last + 1):
            instruction = self.code[self.pcs[index]]
            expected[index] = {place: values.writers[place].copy() for place in sources(instruction)}
            values.write(instruction, index, lanes_of(self.masks[index]), instruction.dst)
        return expected, values

    def _begin(self, index: int, values: Values, names: Names, expected: Writers) -> None:
        """An instruction of the group reads its operands, under the new names of registers."""
        pc, lanes = self.pcs[index], lanes_of(self.masks[index])
        instruction = self.code[pc]
        if instruction.op in ALONE:
            raise WrongHintError(f"{pc}: {instruction.op.name} in a hint group")
        for place in sources(instruction):
            if values.awaited[names.get(place, place), lanes].any():
                raise WrongHintError(f"{pc}: reads what memory has not written")
        self._compare(index, values, names, expected)

    def _finish(self, index: int, name: int, values: Values, names: Names) -> None:
        """It writes its result to the register `name`."""
        instruction, lanes = self.code[self.pcs[index]], lanes_of(self.masks[index])
        if instruction.op is Op.BRA:
            self.found.branches += 1
            return
        self.found.loads += instruction.op is Op.LD
        values.write(instruction, index, lanes, name)
        if name != instruction.dst:
            self.found.renamed += 1
            names[instruction.dst] = name
            self.lost[name, lanes] = True
        else:
            names.pop(name, None)

    def _compare(self, index: int, values: Values, names: Names, expected: Writers) -> None:
        """An instruction reads what it reads in program order."""
        lanes = lanes_of(self.masks[index])
        for place, writers in expected.items():
            if (values.writers[names.get(place, place), lanes] != writers[lanes]).any():
                raise WrongHintError(f"{self.pcs[index]}: reads another value than in program order")

    def _passes(self, stall: int, index: int, chain: Chain) -> None:
        """A load passes no fence, and no store to its addresses."""
        own = self._addresses(index)
        if self.code[self.pcs[index]].space in (Space.CONST, Space.PARAM):
            return
        for skipped in range(stall, index):
            op = self.code[self.pcs[skipped]].op
            if skipped not in chain and (op in FENCES or (op in STORES and own & self._addresses(skipped))):
                raise WrongHintError(f"{self.pcs[index]}: a load passes {op.name} at {self.pcs[skipped]}")

    def _addresses(self, index: int) -> set[tuple[int, int]]:
        """The words that a memory instruction accesses."""
        row = self.rows[index]
        if row == NONE:
            return set()
        space, lanes = int(self.trace.spaces[row]), lanes_of(self.masks[index])
        return {(space, address // 8) for address in self.trace.addresses[row][lanes].tolist()}

    def _compare_end(self, values: Values, end: Values, stall: int) -> None:
        """After the group every register is as in program order, except those that hints gave to other results."""
        differ = values.writers != end.writers
        differ[:PREDICATES] &= ~self.lost
        if differ.any():
            raise WrongHintError(f"{self.pcs[stall]}: place {int(differ.any(axis=1).argmax())} ends with another value")
