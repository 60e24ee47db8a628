"""`ControlProcessor`: during a kernel, the fetch unit of the lanes: fragments, branches, what goes to the issue unit.

Its methods are generators: a `yield` ends a cycle. `room` and `quiet` are those of the issue unit at its start.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from warploom.arch.fg_simt.code import refusal
from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.fg_simt.micro import Kind
from warploom.arch.fg_simt.sizes import FLOAT_DIVISIONS, LAST_PC, UNIFORM_CYCLES, Cause, status
from warploom.arch.isa import MEMORY_OPS, PT, RZ, Instruction, Op
from warploom.arch.mechanisms import Affine
from warploom.arch.modifiers import Special, Vote
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.affine import AffineRegisters, Known
from warploom.golden_model.fg_simt.execution import Execution
from warploom.golden_model.fg_simt.fetch import DecodedQueue, Fetch, Fetched
from warploom.golden_model.fg_simt.fragments import Fragments
from warploom.golden_model.fg_simt.host import Port, StopError, decoded, extended_word
from warploom.golden_model.fg_simt.issue import IssueUnit
from warploom.golden_model.fg_simt.lanes import Lanes
from warploom.golden_model.fg_simt.load_rules import is_uniform, is_vector, uniform_address
from warploom.golden_model.fg_simt.memory import Answer, Request
from warploom.golden_model.fg_simt.memory_unit import MemoryUnit
from warploom.golden_model.fg_simt.micro import (
    TRUE,
    ZERO,
    Micro,
    Operand,
    Operands,
    Position,
    Predicate,
    Register,
    collect,
    give,
    micro,
    predicate_operand,
)
from warploom.golden_model.fg_simt.shared_loads import SharedLoads
from warploom.golden_model.fg_simt.steps import Steps, wait
from warploom.golden_model.fg_simt.threads import Threads

ALL = 0xFFFFFFFF
WALK_CYCLES = 32


class Parts(NamedTuple):
    """What the control processor works with."""

    fetch: Fetch
    issue: IssueUnit[Micro]
    execution: Execution
    memory: MemoryUnit
    port: Port
    lanes: Lanes


@lru_cache(maxsize=1 << 12)
def _decoded(pc: int, answer: Answer) -> Instruction:
    i = decoded(pc, answer)
    if refusal(i):
        raise StopError(Cause.ILLEGAL, pc)
    return i


class ControlProcessor:
    """The CP in kernel mode. `counts` are instructions and events of all kernels."""

    def __init__(self, affine: Affine, parts: Parts) -> None:
        self._fetch, self._issue, self._execution, self._memory, self._port, self._lanes = parts
        self.fragments, self.affine, self.shared = Fragments(), AffineRegisters(affine), SharedLoads()
        self.decoded = DecodedQueue(self._fetch, self._find)
        self.room = self.quiet = True
        self.is_running = False
        self.counts: Counter[str] = Counter()
        self._threads: Threads
        self._block: LaunchBlock

    def kernel(self, block: LaunchBlock, threads: int) -> Steps[int]:
        """Runs a kernel; returns its status."""
        self._threads, self._block, self._execution.block = Threads(block, threads), block, block
        self._fetch.stop()
        self.is_running = True
        result = 0
        try:
            while self._threads.left:
                yield from self._warp()
            while self._memory.in_flight:
                yield
        except StopError as stop:
            result = status(*stop.fault)
            self.is_running = False
            if self._memory.fault is None:
                yield  # it is this unit's own fault, reported in the next cycle
            yield from self._stop()
        self.is_running = False
        self.shared.invalidate()
        return result

    def _stop(self) -> Steps[None]:
        """After a fault: nothing more is sent, and all answers come in."""
        self._fetch.stop()
        self.decoded.clear()
        self._issue.discard()
        self._memory.discard()
        self._port.take()
        yield
        yield from self._port.drain()
        while not (self._memory.is_quiet() and self.quiet):
            yield
        self._memory.reset()

    def _warp(self) -> Steps[None]:
        """The current warp, from its first instruction to its last."""
        self.fragments.start(self._threads.mask)
        self.affine.reset()
        self._lanes.positions = self._threads.positions()
        self._redirect(0, self._block.code)
        for _ in range(WALK_CYCLES if self._threads.is_walked else 1):
            yield
        while self.fragments.mask:
            self.fragments.merge()
            if self.fragments.change():
                self._redirect(self.fragments.pc)
            elif self.decoded:
                yield from self._execute()
            yield
        shares = self._threads.ends_block and self._block.shared_bytes > 0
        while not self.quiet or (shares and self._memory.in_flight):
            yield
        self._threads.advance()

    # ------------------------------------------------------------ one instruction, but for its last cycle

    def _execute(self) -> Steps[None]:
        fragments = self.fragments
        fetched, word = self.decoded[0]
        i = _decoded(*fetched)
        pc = fragments.pc
        words: dict[int, int] = {}
        if i.param:
            words[i.imm_slot] = word if word is not None else (yield from self._load(self._parameter(i)))
            self.counts["shared_loads"] += 1
        self._count(i)
        guard = self._guard(i)
        if guard.is_constant and not guard.holds:
            self._next()
        elif i.op in (Op.BRA, Op.EXIT, Op.TRAP):
            lanes = fragments.mask
            if not guard.is_constant:
                lanes &= yield from self._mask(guard)
            self.decoded.popleft()
            self._go(i, lanes)
        elif i.op in (Op.BAR, Op.MEMBAR):
            while not self.quiet or self._memory.in_flight:
                yield
            self._next()
            if i.op is Op.BAR and not fragments.is_whole:
                raise StopError(Cause.BARRIER, pc)
        else:
            if i.op is Op.VOTE:
                yield from self._vote(i)
            elif i.op is not Op.NOP:
                yield from self._data(i, words)
            self._next()

    def _guard(self, i: Instruction) -> Predicate:
        """The guard of an instruction, as a constant as long as it is uniform."""
        return self.affine.resolved(Predicate(i.guard, i.guard_not))

    def _count(self, i: Instruction) -> None:
        self.counts["instructions"] += 1
        self.counts["threads"] += self.fragments.mask.bit_count()
        self.counts["divergent"] += not self.fragments.is_whole
        kind = ("control" if i.op >= Op.BRA and i.op is not Op.PLOP3 else "memory" if i.op >= Op.LD and i.op < Op.BRA
                else "float" if Op.FADD <= i.op <= Op.CVT or i.op in FLOAT_DIVISIONS else "integer")
        self.counts[kind] += 1
        self.counts["loads"] += i.op is Op.LD
        self.counts["branches"] += i.op is Op.BRA and i.guarded

    def _next(self) -> None:
        """The instruction is over; its fragment goes on behind it."""
        self.decoded.popleft()
        self.fragments.advance()

    def _go(self, i: Instruction, lanes: int) -> None:
        """A branch, exit or trap of some lanes, maybe none."""
        fragments = self.fragments
        if i.op is Op.TRAP:
            pc = fragments.pc
            fragments.advance()
            if lanes:
                raise StopError(Cause.TRAP, pc)
            return
        if fragments.leave(lanes) if i.op is Op.EXIT else fragments.branch(lanes, i.imm & LAST_PC):
            self._redirect(fragments.pc)

    def _redirect(self, pc: int, base: int | None = None) -> None:
        """Goes on at a PC."""
        self._fetch.redirect(pc, base)
        self.decoded.clear()

    def _mask(self, predicate: Predicate) -> Steps[int]:
        """The active lanes in which a predicate holds."""
        if predicate.is_constant:
            return self.fragments.mask if predicate.holds else 0
        yield from self._send(collect(self.fragments.pc, self.fragments.mask, predicate))
        while True:
            yield
            mask = self._issue.take_mask()
            if mask is not None:
                return mask

    def _send(self, sent: Micro) -> Steps[None]:
        """An operation enters the SIQ at the end of the cycle."""
        yield from self._wait_for_room()
        self._issue.queue.append(sent)

    def _wait_for_room(self) -> Steps[None]:
        while not self.room:
            yield

    def _vote(self, i: Instruction) -> Steps[None]:
        """The result of a vote becomes a constant, in the cycle after that in which its lanes are known. If lanes have
        to meet and one is elsewhere, that is a fault."""
        members = self.fragments.mask & i.imm
        holds = yield from self._mask(self.affine.resolved(Predicate(i.psrc, i.psrc_not)))
        if i.sync and i.imm & self.fragments.live & ~self.fragments.mask:
            raise StopError(Cause.BARRIER, self.fragments.pc)
        yield
        holds &= members
        if i.vote is Vote.BALLOT:
            yield from self._data(Instruction(op=Op.MOV, dst=i.dst, imm=holds, imm_slot=0), {})
        else:
            result = {Vote.ALL: holds == members, Vote.ANY: holds != 0, Vote.UNI: holds in (0, members)}[i.vote]
            yield from self._data(Instruction(op=Op.PLOP3, pdst=i.pdst, lut=0xFF * result), {})

    # ------------------------------------------------------------ data

    def _data(self, i: Instruction, words: dict[int, int]) -> Steps[None]:
        """Expansion, then the CP's affine unit or the lanes."""
        fragments, affine = self.fragments, self.affine
        full = fragments.is_whole and self._guard(i).is_constant
        if not full:
            yield from self._expand(i)
        guard = self._guard(i)
        a, b, c = (affine.resolve(operand) for operand in self._operands(i, words))
        pred = affine.resolved(predicate_operand(i))
        known = yield from self._known(i, (a, b, c), pred)
        if known is not None:
            self.counts["affine"] += 1
        if known is not None and full:
            yield from self._wait_for_room()
            affine.write(i, known)
            return
        if known is not None:
            yield from self._send(give(fragments.pc, fragments.mask, i, guard=guard, word=known.word,
                                       holds=known.holds))
        else:
            kind = self._kind(i, (a, b, c), guard)
            yield from self._send(micro(fragments.pc, fragments.mask, i, operands=(a, b, c), guard=guard, pred=pred,
                                        kind=kind))
        affine.write(i, Known(None, None))

    def _expand(self, i: Instruction) -> Steps[None]:
        """Compact destinations are expanded in all lanes before some of them are written."""
        old = Known(self.affine.register(i.dst), self.affine.predicate(i.pdst))
        if old.word is None and old.holds is None:
            return
        self.counts["expansions"] += 1
        move = Instruction(op=Op.MOV, dst=i.dst if old.word is not None else RZ,
                           pdst=i.pdst if old.holds is not None else PT)
        yield from self._send(give(self.fragments.pc, ALL, move, guard=TRUE, word=old.word, holds=old.holds))
        self.affine.expand(i)
        yield

    def _operands(self, i: Instruction, words: dict[int, int]) -> Iterator[Operand]:
        """The operands in slots a, b, c."""
        for slot, number in enumerate(i.src):
            if i.op is Op.PLOP3:
                yield Predicate(min(number, PT), False)
            elif i.op is Op.S2R and slot == 0:
                yield self._threads.compact(i.special) or Position(i.special - Special.TID_X)
            elif slot == i.imm_slot:
                yield Compact(words.get(slot, i.imm))
            else:
                yield ZERO if number == RZ else Register(number)

    def _known(self, i: Instruction, operands: Operands, pred: Predicate) -> Steps[Known | None]:
        """The results of the CP's affine unit, None if it has none. Operands are resolved."""
        affine = self.affine
        if not affine.affine.is_on:
            return None
        if i.op is Op.PLOP3:
            return affine.logic(i, operands)
        if i.op is Op.LD:
            return (yield from self._uniform_load(i, operands))
        slots = tuple(affine.slot(operand) for operand in operands)
        yield from wait(affine.cycles(i, slots, pred) - 1)
        return affine.attempt(i, slots, pred)

    def _uniform_load(self, i: Instruction, operands: Operands) -> Steps[Known | None]:
        """An LD of constants or parameters at a legal uniform address: a shared load."""
        low, high = (self.affine.slot(operand) for operand in operands[:2])
        if low is None or high is None or not is_uniform(i, low, high):
            return None
        yield from wait(UNIFORM_CYCLES - 1)
        address = uniform_address(i, low, high, self._block)
        if address is None:
            return None
        word = self.shared.find(address & ~3)
        if word is None:
            word = yield from self._load(address & ~3)
            yield from wait(UNIFORM_CYCLES - 1)  # it begins again
        self.counts["shared_loads"] += 1
        return Known(Compact(extended_word(Answer(word.to_bytes(4, "little")), address % 4, i)), None)

    def _kind(self, i: Instruction, operands: Operands, guard: Predicate) -> Kind:
        """An operation of the SAUs, an access, or a vector load."""
        if i.op not in MEMORY_OPS:
            return Kind.COMPUTE
        low, high = (self.affine.slot(operand) for operand in operands[:2])
        if not (self.affine.affine.has_memory and is_vector(i, low, high, guard)):
            return Kind.ACCESS
        self.counts["vector_loads"] += 1
        return Kind.VECTOR

    def _load(self, address: int) -> Steps[int]:
        """A word that the shared-load cache does not have."""
        pc = self.fragments.pc
        answer = yield from self._port.access(Request(address))
        if answer.error:
            raise StopError(Cause.BUS, pc)
        word = int.from_bytes(answer.data, "little")
        self.shared.fill(address, word)
        yield
        return word

    def _parameter(self, i: Instruction) -> int:
        """The address of a shared load."""
        return self._block.parameters + i.imm & ALL & ~3

    def _find(self, fetched: Fetched) -> int | None:
        """The word of the shared load of an instruction, if it has one and the cache has the word."""
        try:
            i = _decoded(*fetched)
        except StopError:
            return None
        return self.shared.find(self._parameter(i)) if i.param else None
