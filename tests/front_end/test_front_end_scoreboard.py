"""The scoreboard alone, against the rules of the contract applied to a list of the instructions in flight."""

import random
from dataclasses import dataclass, replace

import pytest
from support.golden_traces import random_instruction

from warploom.arch.isa import PT, RZ, Instruction, Op, Pipe
from warploom.arch.modifiers import DType, Space
from warploom.golden_model.front_end.hazards import Hazards
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.stalls import READY, Stall

MEMBAR = Instruction(op=Op.MEMBAR)
BEATS = (Instruction(op=Op.LATCH, src=(1, 2, RZ)), Instruction(op=Op.DADD, dst=1, src=(3, 4, RZ)),
         Instruction(op=Op.HIGH, dst=2),
         Instruction(op=Op.LATCH, src=(1, 2, RZ), memory=True), Instruction(op=Op.HIGH, dst=2, memory=True),
         Instruction(op=Op.ATOM, dst=1, src=(3, 4, RZ), dst_type=DType.U64, space=Space.GLOBAL))


@dataclass
class InFlight:
    """An instruction in the datapath, and the registers that it still has to read."""

    instruction: Instruction
    unread: list[int]

    def writes(self, other: Instruction) -> bool:
        """Whether it still has to write a register that another instruction reads or writes."""
        own = self.instruction
        registers, predicates = {*other.sources, other.dst} - {RZ}, {*other.predicates_read, other.pdst} - {PT}
        return own.dst in registers or own.pdst in predicates

    def occupies(self, other: Instruction) -> bool:
        """Whether it occupies the unit latch that another instruction needs."""
        holds = self.instruction.op is Op.LATCH or self.instruction.latched or self.instruction.op is Op.DADD
        needs = (other.op in (Op.LATCH, Op.HIGH, Op.DADD)) and not other.latched
        return holds and needs and self.instruction.pipe is other.pipe


def expected(flights: list[InFlight], following: Instruction) -> int:
    """The hazards of an instruction that follows those in flight."""
    before = [flight for flight in flights if flight.writes(following)]
    occupied = [flight for flight in flights if flight.occupies(following)]
    if any(flight.instruction.pipe is Pipe.MEM for flight in (*before, *occupied)):
        return Stall.MEMORY
    if following.op is Op.MEMBAR and any(flight.instruction.pipe is Pipe.MEM for flight in flights):
        return Stall.FENCE
    if before or occupied:
        return Stall.SCOREBOARD
    return Stall.WAR if any(following.dst in flight.unread for flight in flights) else READY


def chosen(rng: random.Random) -> Instruction:
    """A random instruction whose rules are in this file."""
    if rng.random() < 0.3:
        return rng.choice([MEMBAR, *BEATS])
    return random_instruction(rng, 4)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tracks_reads", [True, False])
def test_states_are_those_of_the_rules(seed: int, tracks_reads: bool) -> None:
    rng, seen = random.Random(seed), set()
    board, slots = Scoreboard(3, tracks_reads=tracks_reads), range(3)
    flights: list[list[InFlight]] = [[] for _ in slots]
    following = [chosen(rng) for _ in slots]
    for _ in range(1500):
        slot = rng.choice(slots)
        before = expected(flights[slot], following[slot])
        assert board.look(slot, Hazards(following[slot]).needs) == before
        changed = _event(rng, board, slot, flights[slot], following, before, tracks_reads=tracks_reads)
        after = expected(flights[slot], following[slot])
        assert board.state(slot) == after
        assert changed or before == after  # without a reported change, no new look-up is needed
        seen.add(after)
    everything = {READY, Stall.WAR, Stall.SCOREBOARD, Stall.MEMORY, Stall.FENCE}
    assert seen == everything - (set() if tracks_reads else {Stall.WAR})


def _event(  # noqa: PLR0917 - the state that it changes
    rng: random.Random, board: Scoreboard, slot: int, flights: list[InFlight], following: list[Instruction], state: int,
    *, tracks_reads: bool,
) -> bool:
    """A random event: the next instruction issues, an operand is read, or an instruction is done."""
    instruction = following[slot]
    if state == READY and rng.random() < 0.6:
        if instruction.pipe is not Pipe.CONTROL:
            sources = instruction.sources if tracks_reads else ()
            flights.append(InFlight(instruction, list(sources)))
            board.issue(slot, Hazards(instruction), instruction.sources, memory=instruction.pipe is Pipe.MEM)
        following[slot] = chosen(rng)
        board.look(slot, Hazards(following[slot]).needs)
        return True
    if not flights:
        return False
    flight = rng.choice(flights)
    if flight.unread:
        register = flight.unread.pop()
        return slot in board.read([(slot, register)])
    flights.remove(flight)
    return board.done(slot, Hazards(flight.instruction))


def test_a_barrier_holds_whatever_comes() -> None:
    board = Scoreboard(2)
    needs = Hazards(Instruction(op=Op.NOP)).needs
    board.set_barrier(1)
    assert (board.look(0, needs), board.look(1, needs)) == (READY, Stall.BARRIER)
    board.clear_barrier(1)
    assert board.state(1) == READY


def test_a_barrier_comes_before_memory_and_memory_before_a_fence() -> None:
    """Of a warp whose fence is held by all three: it waits at a barrier, and its guard is a result of a shuffle."""
    board, shuffle = Scoreboard(1), Instruction(op=Op.SHFL, dst=1, src=(2, RZ, RZ), pdst=0)
    load = Instruction(op=Op.LD, dst=3, src=(4, RZ, RZ))
    for instruction in (shuffle, load):
        board.issue(0, Hazards(instruction), instruction.sources, memory=True)
    board.set_barrier(0)
    assert board.look(0, Hazards(replace(MEMBAR, guard=0)).needs) == Stall.BARRIER
    board.clear_barrier(0)
    assert board.state(0) == Stall.MEMORY
    board.done(0, Hazards(shuffle))
    assert board.state(0) == Stall.FENCE
    board.done(0, Hazards(load))
    assert board.state(0) == READY


def test_a_warp_whose_needs_stay_is_not_reported() -> None:
    board, load = Scoreboard(1), Instruction(op=Op.LD, dst=1, src=(2, RZ, RZ))
    board.issue(0, Hazards(load), load.sources, memory=True)
    board.look(0, 0)
    assert not board.read([(0, 2)])
    assert not board.done(0, Hazards(load))
