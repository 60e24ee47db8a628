"""Makes of each static instruction a function that executes it for a group of warps."""

from collections.abc import Callable

import numpy as np

from warploom.arch.errors import ExecutionError
from warploom.arch.isa import MEMORY_OPS, PT, RZ, Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Special, Vote
from warploom.arch.program import Program
from warploom.golden_model.functional.barriers import Barriers, leaving
from warploom.golden_model.functional.failure import thread_error
from warploom.golden_model.functional.load_store import Addressed, LoadStore
from warploom.golden_model.functional.memory import Memory
from warploom.golden_model.functional.operations import WARP_WIDE, Operands, Outcome, prepare
from warploom.golden_model.functional.operations.warp import partners, to_masks
from warploom.golden_model.functional.recorder import Recorder
from warploom.golden_model.functional.resident import Group, ResidentWarps
from warploom.golden_model.functional.special import coordinates, read_special

Step = Callable[[Group], None]
Read = Callable[[Group], np.ndarray]

TRUE = np.ones((1, 1), bool)
CLOCK_READS = frozenset({Special.CLOCK_LO, Special.CLOCK_HI, Special.GLOBALTIMER_LO, Special.GLOBALTIMER_HI})

CARRY_IN = frozenset({Op.IADD, Op.ISUB, Op.IMAD})
"""Operations in which PT as predicate operand means that there is none."""


def uniform(word: int) -> Read:
    """Reads one word, the same for every thread."""
    constant = np.array([[word]], np.uint32)
    return lambda group: constant


ZERO = uniform(0)


class Steps:
    """Makes steps for one launch. `barriers` is set anew for each set of resident blocks; `clock` counts warp
    instructions."""

    def __init__(self, program: Program, launch: Launch, memory: Memory, recorder: Recorder | None) -> None:
        self._program, self._launch, self._memory, self._recorder = program, launch, memory, recorder
        self.barriers: Barriers
        self.clock = 0
        self._leaving = leaving(program.instructions)
        special = {
            Op.BRA: self._branch, Op.EXIT: self._exit, Op.BAR: self._barrier, Op.BARRED: self._barrier,
            Op.MEMBAR: self._nothing, Op.NOP: self._nothing, Op.TRAP: self._trap, Op.PLOP3: self._logic,
            Op.S2R: self._special, Op.LATCH: self._latch, Op.HIGH: self._high,
        }
        self._events = 0  # barriers reached, exits, and clocks read
        self._memory_access = access = LoadStore(program, launch, memory)
        self.console = access.console
        self.steps: list[Step] = []
        for pc, i in enumerate(program.instructions):
            if i.op in MEMORY_OPS:
                self.steps.append(self._access(pc, i, access.prepare(pc, i)))
            else:
                self.steps.append(special.get(i.op, self._compute)(pc, i))

    @property
    def changes(self) -> int:
        """Counts what may let a warp go on that repeats the same instructions: changes of memory, barriers reached,
        exits, clocks read."""
        return self._events + self._memory_access.changes

    # ------------------------------------------------------------ operands and results

    def _sources(self, i: Instruction) -> list[Read]:
        return [self._source(i, slot) for slot in range(3)]

    def _source(self, i: Instruction, slot: int) -> Read:
        register = i.src[slot]
        if slot == i.imm_slot:
            return uniform(self._memory.parameter_word(i.imm) if i.param else i.imm)
        if register == RZ:
            return ZERO
        return lambda group: group.read(group.state.registers[register])

    @staticmethod
    def _predicate(number: int, inverted: bool = False) -> Read:
        if number >= PT:
            return lambda group: TRUE ^ inverted
        if inverted:
            return lambda group: ~group.read(group.state.predicates[number])
        return lambda group: group.read(group.state.predicates[number])

    def _executing(self, i: Instruction) -> Callable[[Group], np.ndarray | None]:
        """The executing lanes of a group, None for all 32 of every warp."""
        if i.guard == PT and not i.guard_not:
            return lambda group: group.active
        guard = self._predicate(i.guard, i.guard_not)

        def guarded(group: Group) -> np.ndarray:
            lanes = guard(group) & group.lanes
            group.idle += int(np.count_nonzero(group.lanes)) - int(np.count_nonzero(lanes))
            return lanes

        return guarded

    def _pred_in(self, i: Instruction) -> Read | None:
        """The predicate operand, None where the instruction has none."""
        if i.psrc == PT:
            return (lambda group: ~TRUE) if i.op in CARRY_IN or i.psrc_not else None
        return self._predicate(i.psrc, i.psrc_not)

    @staticmethod
    def _merge(target: np.ndarray, group: Group, lanes: np.ndarray | None, values: np.ndarray) -> None:
        """Write values to the executing lanes of a group."""
        if lanes is None:
            target[group.select] = values
        else:
            target[group.select] = np.where(lanes, values, group.read(target))

    def _finish(self, pc: int, i: Instruction) -> Callable[..., None]:
        """Records the instruction and writes its results."""
        recorder, writes = self._recorder, i.dst != RZ

        def finish(
            group: Group, lanes: np.ndarray | None, outcome: Outcome, pred_in: np.ndarray | None = None,
            address: Addressed | None = None,
        ) -> None:
            result, _, pred = outcome
            if not writes:
                result = None
            if i.pdst == PT:
                pred = None
            if recorder is not None:  # before the writes: operands may be views of the registers that are written
                recorder.add(pc, group.state.numbers[group.warps], lanes, pred_in=pred_in, pred_out=pred,
                             result=result, address=address)
            if result is not None:
                self._merge(group.state.registers[i.dst], group, lanes, result)
            if pred is not None:
                self._merge(group.state.predicates[i.pdst], group, lanes, pred)

        return finish

    # ------------------------------------------------------------ data

    def _compute(self, pc: int, i: Instruction) -> Step:
        function, finish, executing = prepare(i), self._finish(pc, i), self._executing(i)
        (a, b, c), read_pred = self._sources(i), self._pred_in(i)
        across, latched = i.op in WARP_WIDE, i.latched

        def step(group: Group) -> None:
            lanes = executing(group)
            pred = None if read_pred is None else read_pred(group)
            operands = Operands(a(group), b(group), c(group), TRUE if pred is None else pred)
            if across:
                operands = operands._replace(lanes=group.lanes if lanes is None else lanes)
                if i.sync and lanes is not None:
                    self._check_met(pc, i, group, operands)
            if latched:
                operands = operands._replace(latch=group.read_latch(i.pipe))
            outcome = function(operands)
            if outcome.high is not None:
                group.state.high[i.pipe][group.select] = outcome.high
            finish(group, lanes, outcome, pred)

        return step

    def _check_met(self, pc: int, i: Instruction, group: Group, operands: Operands) -> None:
        """Every lane that the executing lanes name must execute the instruction with them, unless it has exited."""
        lanes, stack = operands.lanes, group.state.stack
        away = stack.active[group.warps] & ~lanes | stack.elsewhere(group.warps, self._leaving)
        missing = partners(i, operands) & away
        if missing.any():
            warp = int(missing.any(1).argmax())
            raise thread_error(self._program, self._launch, pc, group, position=32 * warp + int(lanes[warp].argmax()),
                               what=f"lane {missing[warp].argmax()} of its warp has to execute this instruction with "
                                    "it, and is elsewhere, on another side of a branch or past a guard: let all lanes "
                                    "in the mask reach it together")

    def _special(self, pc: int, i: Instruction) -> Step:
        finish, executing, launch = self._finish(pc, i), self._executing(i), self._launch
        shared_bytes, is_clock = self._program.shared_bytes, i.special in CLOCK_READS

        def step(group: Group) -> None:
            state, warps, lanes = group.state, group.warps, executing(group)
            self._events += is_clock
            words = read_special(i.special, launch, state.blocks[warps], state.warps[warps], shared_bytes=shared_bytes,
                                 active=to_masks(group.lanes if lanes is None else lanes), clock=self.clock)
            finish(group, lanes, Outcome(words))

        return step

    def _latch(self, pc: int, i: Instruction) -> Step:
        finish, executing, sources = self._finish(pc, i), self._executing(i), self._sources(i)

        def step(group: Group) -> None:
            for word, read in zip(group.state.latch[i.pipe], sources, strict=True):
                word[group.select] = read(group)
            finish(group, executing(group), Outcome())

        return step

    def _high(self, pc: int, i: Instruction) -> Step:
        finish, executing = self._finish(pc, i), self._executing(i)
        return lambda group: finish(group, executing(group), Outcome(group.read(group.state.high[i.pipe])))

    def _access(self, pc: int, i: Instruction, access: Callable[..., tuple[Outcome, Addressed]]) -> Step:
        finish, executing, sources = self._finish(pc, i), self._executing(i), self._sources(i)

        def step(group: Group) -> None:
            lanes = executing(group)
            latch = group.read_latch(i.pipe) if i.latched else ()
            outcome, address = access(group, lanes, [*latch, *(read(group) for read in sources)])
            if outcome.high is not None:
                group.state.high[i.pipe][group.select] = outcome.high
            finish(group, lanes, outcome, address=address)

        return step

    def _logic(self, pc: int, i: Instruction) -> Step:
        function = prepare(Instruction(op=Op.LOP3, lut=i.lut))  # the truth tables of words also work for bools
        finish, executing = self._finish(pc, i), self._executing(i)
        p, q, r = (self._predicate(number) for number in i.src)

        def step(group: Group) -> None:
            finish(group, executing(group), Outcome(pred=function(Operands(p(group), q(group), r(group))).result))

        return step

    # ------------------------------------------------------------ control

    def _nothing(self, pc: int, i: Instruction) -> Step:
        finish, executing = self._finish(pc, i), self._executing(i)
        return lambda group: finish(group, executing(group), Outcome())

    def _trap(self, pc: int, i: Instruction) -> Step:
        executing = self._executing(i)
        what = self._program.stops[i.imm - 1] if i.imm else "trap: the kernel stops itself"

        def step(group: Group) -> None:
            lanes = executing(group)
            first = 0 if lanes is None else int(lanes.argmax())
            if lanes is None or lanes.flat[first]:
                raise thread_error(self._program, self._launch, pc, group, position=first, what=what)

        return step

    def _branch(self, pc: int, i: Instruction) -> Step:
        finish, executing = self._finish(pc, i), self._executing(i)

        def step(group: Group) -> None:
            lanes = executing(group)
            finish(group, lanes, Outcome())
            if lanes is None or i.imm == pc + 1:
                group.state.stack.advance(group.warps, i.imm)
            else:
                group.state.stack.branch(group.warps, lanes, i.imm, pc + 1, reconverge=i.reconverge,
                                         taken_first=i.taken_first)

        return step

    def _exit(self, pc: int, i: Instruction) -> Step:
        finish, executing = self._finish(pc, i), self._executing(i)

        def step(group: Group) -> None:
            lanes = executing(group)
            finish(group, lanes, Outcome())
            self._events += int(lanes is None or lanes.any())
            group.state.stack.exit(group.warps, group.lanes if lanes is None else lanes, pc + 1)
            self._release(group.state, self.barriers.leave(group.warps))

        return step

    def _barrier(self, pc: int, i: Instruction) -> Step:
        """BAR is recorded when a warp arrives. BARRED has a result, so it is recorded when the warp is released."""
        finish, executing, votes = self._finish(pc, i), self._executing(i), self._predicate(i.psrc, i.psrc_not)

        def step(group: Group) -> None:
            state, stack, lanes = group.state, group.state.stack, executing(group)
            lanes = group.lanes if lanes is None else lanes
            self.barriers.votes[group.warps] = votes(group)
            here = to_masks(lanes) != 0
            self._events += int(here.any())
            self._check_whole(pc, group, lanes)
            if i.op is Op.BAR or not here.all():
                skipped = group if i.op is Op.BAR else Group(state, group.warps[~here])
                finish(skipped, lanes if i.op is Op.BAR else lanes[~here], Outcome())
            stack.advance(group.warps[~here], pc + 1)
            for warps in self.barriers.turns(group.warps[here], i.count):
                if i.arrive:
                    stack.advance(warps, pc + 1)
                    self._release(state, self.barriers.pass_by(warps, i.imm, i.count))
                else:
                    self._release(state, self.barriers.arrive(warps, pc, i.imm, i.count))

        return step

    def _release(self, state: ResidentWarps, released: np.ndarray) -> None:
        """Warps go on after the barriers where they wait, each with the result of its own instruction."""
        if not len(released):
            return
        arrived_at = self.barriers.arrived_at[released]
        voted = [pc for pc in set(arrived_at.tolist()) if self._program.instructions[pc].op is Op.BARRED]
        if voted:
            true, voters = self.barriers.total_votes(released, Group(state, released).lanes)
        for pc in voted:
            mine = arrived_at == pc
            self._vote(pc, Group(state, released[mine]), true[mine], voters[mine])
        state.stack.advance(released, arrived_at + 1)

    def _vote(self, pc: int, group: Group, true: np.ndarray, voters: np.ndarray) -> None:
        i = self._program.instructions[pc]
        words = true.astype(np.uint32)[:, None]
        pred = (true == voters if i.vote is Vote.ALL else true > 0)[:, None]
        outcome = Outcome(words, pred=np.broadcast_to(pred, (len(pred), 32)))
        self._finish(pc, i)(group, group.active, outcome, self.barriers.votes[group.warps])

    def _check_whole(self, pc: int, group: Group, lanes: np.ndarray) -> None:
        """Every arriving warp must arrive with all lanes that its barrier waits for."""
        missing = self.barriers.missing(group.warps, lanes, self._leaving) & lanes.any(1)
        if missing.any():
            warp = group.warps[missing.argmax()]
            raise self.barrier_error(pc, int(group.state.blocks[warp]), f"only part of warp {group.state.warps[warp]}")

    def barrier_error(self, pc: int, block: int, who: str) -> ExecutionError:
        """The error of a barrier that some threads of a block never reach; `who` reached it."""
        place = coordinates(block, self._launch.grid)
        return ExecutionError(f"{self._program.at(pc)}: barrier "
                              f"{self._program.instructions[pc].imm}: {who} of block {place} reaches it, the others "
                              "never will: every thread that a barrier counts must execute it")
