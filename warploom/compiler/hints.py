"""Hints for order: the instructions that a warp may execute while it waits for memory, and registers for their results
(docs/contract/hints.md; [HAWS], section 5.3.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.layout import MOST_REGISTERS, resident_warps
from warploom.arch.order_hints import COLLECTED, LEADS_BITS, BranchHint, Hint, fits
from warploom.arch.passing import may_pass, must_follow, stored
from warploom.arch.program import Program, successors
from warploom.compiler.dominators import postorder
from warploom.compiler.pending import live, pending, reads, writes, written_predicate, written_register


def hinted(program: Program, most_registers: int = MOST_REGISTERS) -> Program:
    """The program with hints for order. It may use more registers than before, up to `most_registers`."""
    groups = _Groups(program, most_registers)
    words = sorted(groups.words.items())
    return replace(program, order_hints=tuple(words), registers=max(program.registers, groups.registers))


def hinted_for(program: Program, config: SmConfig) -> Program:
    """The program with hints for order, and no more registers than leave as many warps resident on an SM."""
    return hinted(program, _most_registers(program, config))


def with_spare(program: Program, config: SmConfig) -> Program:
    """The program with registers for the results of pre-execution, as many as an RCU has entries, but no more than
    leave as many warps resident (docs/contract/comparators.md)."""
    return replace(program, registers=min(program.registers + COLLECTED, _most_registers(program, config)))


def _most_registers(program: Program, config: SmConfig) -> int:
    warps = resident_warps(config, program.registers)
    return next(registers for registers in range(MOST_REGISTERS, program.registers - 1, -1)
                if registers == program.registers or resident_warps(config, registers) == warps)


def stall_points(code: Sequence[Instruction]) -> list[int]:
    """The instructions that read or write what memory may still have to write."""
    return [pc for pc, (instruction, awaited) in enumerate(zip(code, pending(code), strict=True))
            if awaited & (reads(instruction) | writes(instruction))]


@dataclass(frozen=True)
class _State:
    """What holds before an instruction on all paths from the stall point. Masks of registers and predicates: those that
    are `missing`, and those that a new value would `disturb`. `stored`: spaces in which a skipped instruction may
    write. `depth`: the least number of instructions of the group before it."""

    missing: int
    disturbs: int
    stored: int
    depth: int

    def join(self, other: "_State") -> "_State":
        """The state where two paths meet."""
        return _State(self.missing | other.missing, self.disturbs | other.disturbs, self.stored | other.stored,
                      min(self.depth, other.depth))

    def skip(self, instruction: Instruction) -> "_State":
        """After an instruction that is not executed."""
        written = writes(instruction)
        return _State(self.missing | written, self.disturbs | written | reads(instruction),
                      self.stored | stored(instruction), self.depth)

    def execute(self, instruction: Instruction) -> "_State":
        """After one that is. A register that was renamed once stays among those that a new value would disturb."""
        return _State(self.missing & ~writes(instruction), self.disturbs, self.stored, self.depth + 1)


class _Groups:
    """The hint groups of a program: its hints by pc, and the number of `registers` that it needs with them."""

    def __init__(self, program: Program, most_registers: int) -> None:
        self.words: dict[int, int] = {}
        self.registers = program.registers
        self._code, self._most = program.instructions, most_registers
        self._successors = successors(self._code)
        self._live, self._pending = live(self._code), pending(self._code)
        self._stalls = frozenset(stall_points(self._code))
        for stall in sorted(self._stalls):
            if self._code[stall].op not in (Op.BRA, Op.EXIT, Op.TRAP):
                self._group(stall)

    def _group(self, stall: int) -> None:
        """Find the group of a stall point, and add its hints."""
        order = self._reach(stall)
        group = _Group(stall, order, {pc: place for place, pc in enumerate(order)}, self._names(stall, order))
        start = _State(self._pending[stall], self._pending[stall], 0, 0).skip(self._code[stall])
        self._arrive(group, stall, start)
        for pc in order:
            state = group.states.get(pc)
            if state is None or state.depth >= COLLECTED:
                continue
            instruction = self._code[pc]
            if self._may_execute(pc, state) and self._leads(stall, pc):
                name = self._name(group, instruction, state)
                if name is not None:
                    group.names[pc] = name
                    self._arrive(group, pc, state.execute(instruction))
                    continue
            if instruction.op is not Op.BRA:
                self._arrive(group, pc, state.skip(instruction))
        self._encode(group)

    def _reach(self, stall: int) -> list[int]:
        """The instructions that can be reached from a stall point before another one and without an exit, in an order
        in which each comes after those before it on a path, except around loops."""
        ends = (Op.EXIT, Op.TRAP)

        def following(pc: int) -> list[int]:
            if self._code[pc].op in ends:
                return []
            return [successor for successor in self._successors[pc]
                    if successor not in self._stalls and fits(successor - stall)]

        return postorder(following, stall)[-2::-1]

    def _names(self, stall: int, order: Sequence[int]) -> Iterator[int]:
        """Registers for results: those that nobody reads or writes in the group, then new ones."""
        used = self._live[stall] | reads(self._code[stall]) | writes(self._code[stall]) | self._pending[stall]
        for pc in order:
            used |= self._live[pc] | reads(self._code[pc]) | writes(self._code[pc])
        for register in range(self._most):
            if not used >> register & 1:
                yield register

    def _arrive(self, group: "_Group", pc: int, state: _State) -> None:
        """The state after an instruction is one before its successors."""
        for successor in self._successors[pc]:
            if group.follows(pc, successor):
                known = group.states.get(successor)
                group.states[successor] = state if known is None else known.join(state)

    def _may_execute(self, pc: int, state: _State) -> bool:
        """Whether an instruction may be in the group, but for its destination."""
        instruction = self._code[pc]
        if pc in self.words or not may_pass(instruction):
            return False
        if reads(instruction) & state.missing or written_predicate(instruction) & state.disturbs:
            return False
        return not must_follow(instruction, state.stored)

    def _leads(self, stall: int, pc: int) -> bool:
        """Whether an entry has room for where an instruction leads."""
        return all(fits(successor - stall, LEADS_BITS) for successor in self._successors[pc])

    def _name(self, group: "_Group", instruction: Instruction, state: _State) -> int | None:
        """The register for the result of an instruction: its own, a new one, or None if there is none."""
        if not written_register(instruction) & state.disturbs:
            return instruction.dst
        return None if instruction.guarded else next(group.free, None)

    def _encode(self, group: "_Group") -> None:
        """The hints of a group, unless it has nothing but branches."""
        for pc in reversed(group.order):  # a branch behind which nothing follows is of no use
            if pc in group.names and self._code[pc].op is Op.BRA and not any(self._targets(group, pc)):
                del group.names[pc]
        first = self._next(group, group.stall, group.stall + 1)
        if not first:
            return
        self.words[group.stall] = Hint(first, True, RZ).encode()
        for pc, name in group.names.items():
            instruction = self._code[pc]
            if instruction.op is Op.BRA:
                self.words[pc] = BranchHint(not instruction.guarded, *self._targets(group, pc)).encode()
            else:
                following = self._next(group, pc, pc + 1)
                self.words[pc] = Hint(following, name != instruction.dst, name).encode()
                self.registers = max(self.registers, 0 if name == RZ else name + 1)

    def _targets(self, group: "_Group", pc: int) -> tuple[int, int]:
        """The offsets of a branch: if it is taken, and if not."""
        branch = self._code[pc]
        return self._next(group, pc, branch.imm), self._next(group, pc, pc + 1) if branch.guarded else 0

    def _next(self, group: "_Group", pc: int, following: int) -> int:
        """The offset of the first instruction of the group from `following` on, which comes after `pc`; 0 if there is
        none before a branch that is not in the group."""
        while group.follows(pc, following) and following in group.states:
            if following in group.names:
                return following - group.stall
            if self._code[following].op is Op.BRA:
                break
            pc, following = following, following + 1
        return 0


@dataclass
class _Group:
    """A hint group: its stall point, the instructions that can be reached in `order` with their places in it, `free`
    registers, the states before instructions, and the register of the result of each one that is in the group."""

    stall: int
    order: list[int]
    places: dict[int, int]
    free: Iterator[int]
    states: dict[int, _State] = field(default_factory=dict)
    names: dict[int, int] = field(default_factory=dict)

    def follows(self, pc: int, successor: int) -> bool:
        """Whether a successor belongs to the paths of the group: no loop leads back to it."""
        return successor in self.places and self.places.get(pc, -1) < self.places[successor]
