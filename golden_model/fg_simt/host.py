"""`Host`: the host part, which the control processor executes between kernels.

Its methods are generators: a `yield` ends a cycle.
"""

from collections.abc import Callable

import numpy as np

from warploom.arch.encoding import decode
from warploom.arch.fg_simt.code import host_refusal
from warploom.arch.fg_simt.image import HOST, LaunchBlock
from warploom.arch.fg_simt.sizes import LAST_PC, MULTIPLY_CYCLES, Cause, status
from warploom.arch.isa import Instruction, Op
from warploom.golden_model.fg_simt.fetch import Fetch
from warploom.golden_model.fg_simt.lanes import extended
from warploom.golden_model.fg_simt.memory import Answer, Ports, Request
from warploom.golden_model.fg_simt.memory_unit import Fault
from warploom.golden_model.fg_simt.scalar import ScalarRegisters
from warploom.golden_model.fg_simt.steps import Steps, wait

Launch = Callable[[LaunchBlock, int], Steps[int]]
"""Runs a kernel; returns its status."""


class StopError(Exception):
    """A fault stops the kernel, or the host part."""

    def __init__(self, cause: Cause, pc: int) -> None:
        super().__init__(f"{cause.name} at {pc}")
        self.fault = Fault(cause, pc)


class Port:
    """The control processor's port to the data cache, by its number: one request at a time."""

    def __init__(self, memory: Ports, number: int) -> None:
        self._memory, self._number = memory, number
        self.is_waiting = False

    def access(self, request: Request) -> Steps[Answer]:
        """A request; ends in the cycle of the answer."""
        while not self._memory.ready(self._number):
            yield
        self._memory.request(self._number, request)
        self.is_waiting = True
        while True:
            yield
            answer = self._memory.answer(self._number)
            if answer is not None:
                self.is_waiting = False
                return answer

    def take(self) -> None:
        """Takes the answer of this cycle, if there is one, to a request that nobody wants any more."""
        if self.is_waiting and self._memory.answer(self._number) is not None:
            self.is_waiting = False

    def drain(self) -> Steps[None]:
        """Waits for the answer of such a request."""
        self.take()
        while self.is_waiting:
            yield
            self.take()


def decoded(pc: int, answer: Answer) -> Instruction:
    """A fetched instruction. Raises `StopError` for what is none."""
    if answer.error:
        raise StopError(Cause.FETCH, pc)
    try:
        return decode(int.from_bytes(answer.data, "little"))
    except ValueError:
        raise StopError(Cause.ILLEGAL, pc) from None


class Host:
    """The host part. `status` is that of the engine once it has halted."""

    observed = ("host_pc", "halted")

    def __init__(self, fetch: Fetch, port: Port) -> None:
        self._fetch, self._port = fetch, port
        self._registers = ScalarRegisters()
        self._pc = 0
        self.status: int | None = None

    def run(self, launch: Launch) -> Steps[None]:
        """From reset until the engine halts."""
        self._fetch.redirect(0, HOST)
        yield
        try:
            while self.status is None:
                if self._fetch.queue:
                    yield from self._execute(launch)
                yield
        except StopError as stop:
            self.status = status(*stop.fault)

    def _execute(self, launch: Launch) -> Steps[None]:
        """One instruction, but for its last cycle."""
        fetched = self._fetch.queue.popleft()
        yield
        i = decoded(*fetched)
        if host_refusal(i):
            raise StopError(Cause.ILLEGAL, self._pc)
        following = self._pc + 1 & LAST_PC
        if self._registers.executes(i):
            if i.op is Op.BRA:
                following = i.imm & LAST_PC
                self._fetch.redirect(following)
            elif i.op is Op.EXIT:
                self.status = self._registers.slot(i, 0)
            elif i.op is Op.LAUNCH:
                yield from self._launch(i, launch)
            elif i.op in (Op.LD, Op.ST):
                yield from self._access(i)
            elif i.op is not Op.MEMBAR:
                yield from wait(MULTIPLY_CYCLES - 1 if i.op in (Op.IMUL, Op.IMAD) else 0)
                self._registers.compute(i)
        self._pc = following

    def _access(self, i: Instruction) -> Steps[None]:
        """A load or store."""
        address = self._registers.slot(i, 0) + i.imm & 0xFFFFFFFF
        offset, size = address % 4, i.access.size
        if address % size:
            raise StopError(Cause.MISALIGNED, self._pc)
        if i.op is Op.ST:
            data = bytes(offset) + self._registers.slot(i, 2).to_bytes(4, "little")
            request = Request(address - offset, False, data[:4], (1 << size) - 1 << offset)
        else:
            request = Request(address - offset)
        answer = yield from self._port.access(request)
        if answer.error:
            raise StopError(Cause.BUS, self._pc)
        if i.op is Op.LD:
            self._registers.write(i, extended_word(answer, offset, i))

    def _launch(self, i: Instruction, launch: Launch) -> Steps[None]:
        """Loads the launch block, runs the kernel, and comes back."""
        address, words = self._registers.slot(i, 1), []
        if address % 4:
            raise StopError(Cause.MISALIGNED, self._pc)
        for number in range(len(LaunchBlock._fields)):
            answer = yield from self._port.access(Request(address + 4 * number & 0xFFFFFFFF))
            if answer.error:
                raise StopError(Cause.BUS, self._pc)
            words.append(int.from_bytes(answer.data, "little"))
            yield
        result = yield from launch(LaunchBlock(*words), self._registers.slot(i, 0))
        self._registers.write(i, result)
        self._fetch.redirect(self._pc + 1, HOST)

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        return [self._pc, int(self.status is not None)]


def extended_word(answer: Answer, offset: int, i: Instruction) -> int:
    """The bytes at an offset of a word, as an LD extends them."""
    word = np.array([int.from_bytes(answer.data, "little") >> 8 * offset], np.uint32)
    return int(extended(word, i)[0])
