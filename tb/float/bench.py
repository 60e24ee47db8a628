"""The bench that all floating-point units share: cases one after the other, against the golden model, in exactly the
cycles of the contract."""

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
from cocotb.handle import SimHandleBase

from warploom.tb.bench import Checker, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.float.cases import Cases, Family
from warploom.tb.float.packing import Control, packed


class Cycles:
    """Drives cases, and checks the results of each `latency` cycles later. A unit with an interval is only driven when
    it is ready, which it must be as soon as the interval is over."""

    def __init__(self, checker: Checker, latency: int, interval: int) -> None:
        self._checker, self._interval = checker, interval
        self._due: deque[tuple[str, dict[str, int]] | None] = deque([None] * latency)
        self._entering: tuple[str, dict[str, int]] | None = None
        self._free = 0  # cycles until the next case may enter

    def stimuli(self, cases: Sequence[tuple[int, str, dict[str, int]]]) -> Iterator[Stimulus]:
        """One case after the other, with pauses, in which the operands are those of the next one."""
        active = busy(source(), 0.8)
        for word, name, expected in cases:
            while self._free or not next(active):
                yield {"operands": word}
            self._entering = name, expected
            yield {"valid": 1, "operands": word}
        for _ in range(len(self._due) + 1):
            yield {}

    def check(self, seen: Observation) -> None:
        """One cycle."""
        if "ready" in seen:
            self._checker.equal("ready", seen["ready"], int(not self._free))
        self._free = self._interval - 1 if seen["valid"] else max(self._free - 1, 0)
        self._due.append(self._entering)
        self._entering, leaving = None, self._due.popleft()
        self._checker.equal("done", seen["done"], int(leaving is not None))
        if leaving is not None:
            name, expected = leaving
            self._checker.equal(name, {port: seen[port] for port in expected}, expected)


async def run_cases(
    dut: SimHandleBase, families: Sequence[Family], control: Control, count: int, *, latency: int, interval: int = 1
) -> None:
    """About `count` cases of all families together, in random order."""
    ports, rng = Ports(dut), np.random.default_rng(source().getrandbits(32))
    made: list[tuple[int, str, dict[str, int]]] = []
    for family in families:
        for cases in family.cases(rng, count // len(families)):
            made += _rows(ports, cases, control)
    rng.shuffle(made)
    checker = Checker(minimum=count // 2)
    cycles = Cycles(checker, latency, interval)
    await exercise(ports, cycles.stimuli(made), cycles.check, checker)


def _rows(ports: Ports, cases: Cases, control: Control) -> Iterator[tuple[int, str, dict[str, int]]]:
    """Word, name and expected outputs of each case."""
    instruction = cases.instruction
    about = f"{instruction.op.name} {control(instruction)}"
    packets, (words, predicates) = packed(ports.codecs["operands"], cases, control), cases.results()
    columns = (packets, *(x.tolist() for x in (*cases.operands, words, predicates)))
    for packet, *given, result, verdict in zip(*columns, strict=True):
        expected = {"result": result} | ({"verdict": verdict} if "verdict" in ports.outputs else {})
        operands = " ".join(f"{operand:08x}" for operand in given)
        yield int.from_bytes(packet.tobytes(), "little"), f"{about} {operands}", expected
