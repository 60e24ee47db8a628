"""What happens at the ports of the issue unit while a program runs on the whole model."""

from collections import deque
from typing import NamedTuple

from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import SLWQ_ENTRIES
from warploom.arch.mechanisms import Affine
from warploom.fg_simt.images import image
from warploom.fg_simt.programs import started
from warploom.golden_model.fg_simt.engine import Engine
from warploom.golden_model.fg_simt.issue import IssueUnit
from warploom.golden_model.fg_simt.memory import IdealMemory
from warploom.golden_model.fg_simt.micro import Micro
from warploom.tb.fg_simt.eight_lanes import GROUPS, ROWS
from warploom.tb.fg_simt.issue_traffic import Sent

WHAT = IssueUnit.observed.index("issue")
"""The place of what issues among the observed values."""


class Step(NamedTuple):
    """A cycle: what is sent, inputs from the memory unit, rows in it, and what the model of the issue unit shows."""

    sent: Sent | None
    freed: int
    answered: int
    rows: int
    observed: list[int]


class Replayed:
    """The units behind the issue unit, by a recording."""

    def __init__(self) -> None:
        self.now = Step(None, 0, 0, 0, [])
        self._loads: deque[int] = deque()
        self._count = 0

    @property
    def place(self) -> int:
        """The entry of the SLWQ that the next load gets."""
        return self._count % SLWQ_ENTRIES

    @property
    def rows(self) -> int:
        """Rows in the SMRQ or on their way."""
        return self.now.rows

    def end(self) -> None:
        """The end of a cycle."""

    def takes(self, rows: int) -> bool:
        return self.rows + rows <= ROWS

    def answered(self) -> bool:
        return bool(self.now.answered >> self._loads[0] & 1)

    def collect(self, micro: Sent) -> int:
        return 0

    def compute(self, micro: Sent) -> None:
        pass

    def access(self, cycle: int, micro: Sent) -> None:
        if micro.loads:
            self._loads.append(self.place)
            self._count += 1

    def write_back(self) -> None:
        self._loads.popleft()

    def discard(self) -> None:
        raise NotImplementedError


def record(name: str, cycles: int) -> list[Step]:
    """Cycles of a program of `warploom.fg_simt.programs`, from its first operation on."""
    engine = Engine(IdealMemory(image(started(name))), Affine.ABM)
    steps: list[Step] = []
    written = 0
    while len(steps) < cycles and not engine.halted:
        step = _step(engine, written)
        written += step.observed[WHAT] == 2
        if steps or step.sent is not None:
            steps.append(step)
    return steps


def _step(engine: Engine, written: int) -> Step:
    """A cycle of the engine, after so many write-backs."""
    unit, memory = engine.issue, engine.memory
    queue, rows = list(unit.queue), memory.rows
    answered = sum((not load.left) << (written + k) % SLWQ_ENTRIES for k, load in enumerate(engine.execution.loads))
    engine.clock()
    observed = unit.observe()
    issued, added = observed[WHAT] == 1, 0
    if issued and queue[0].unit is Unit.SGU:
        added = 1 if queue[0].kind is Kind.VECTOR else GROUPS
    is_sent = len(unit.queue) > len(queue) - issued
    return Step(_sent(unit.queue[-1]) if is_sent else None, rows + added - memory.rows, answered, rows, observed)


def _sent(micro: Micro) -> Sent:
    return Sent(micro.kind, micro.unit, micro.latency, micro.pc, micro.reads, micro.writes, micro.loads, micro.mask)
