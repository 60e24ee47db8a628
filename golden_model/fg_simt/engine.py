"""`Engine`: all parts, cycle by cycle; `run` executes a memory image."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from warploom.arch.errors import ExecutionError
from warploom.arch.fg_simt.image import Image, LaunchBlock
from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.mechanisms import Affine
from warploom.golden_model.fg_simt.control import ControlProcessor, Parts
from warploom.golden_model.fg_simt.execution import Execution
from warploom.golden_model.fg_simt.fetch import Fetch
from warploom.golden_model.fg_simt.host import Host, Port, StopError
from warploom.golden_model.fg_simt.issue import IssueUnit
from warploom.golden_model.fg_simt.lanes import Lanes
from warploom.golden_model.fg_simt.memory import IdealMemory, Memory
from warploom.golden_model.fg_simt.memory_unit import MemoryUnit
from warploom.golden_model.fg_simt.steps import Steps
from warploom.golden_model.observation import Gathered


class Engine:
    """The engine, of some `sizes`, behind the ports of a memory. `cycle` is the number of cycles since reset."""

    def __init__(self, memory: Memory, affine: Affine = Affine.OFF, sizes: Sizes = EIGHT_LANES) -> None:
        self._memory_system = memory
        self.lanes, self.fetch = Lanes(), Fetch(memory)
        self.memory = MemoryUnit(memory, sizes)
        self.execution = Execution(self.lanes, self.memory)
        self.issue = IssueUnit(self.execution, sizes)
        port = Port(memory, sizes.cp_port)
        parts = Parts(self.fetch, self.issue, self.execution, self.memory, port, self.lanes)
        self.control = ControlProcessor(affine, parts)
        self.host = Host(self.fetch, port)
        self._steps = self.host.run(self._launch)
        self.cycle = self.kernel_cycles = self.kernel_fetches = 0
        gathered = Gathered(self.host, self.fetch, self.control.fragments, self.control.affine, self.control.shared,
                            self.issue, self.memory)
        self.observed, self.observe = gathered.observed, gathered.observe

    @property
    def halted(self) -> bool:
        """Whether the host part is over."""
        return self.host.status is not None

    def _launch(self, block: LaunchBlock, threads: int) -> Steps[int]:
        first, fetches = self.cycle, self.fetch.requests
        result = yield from self.control.kernel(block, threads)
        self.kernel_cycles += self.cycle - first
        self.kernel_fetches += self.fetch.requests - fetches
        return result

    def clock(self) -> None:
        """One cycle."""
        self.control.room, self.control.quiet = self.issue.has_room, self.issue.is_quiet(self.cycle)
        self.fetch.request()
        if self.control.is_running:
            self.control.decoded.take()
        self.issue.clock(self.cycle)
        fault = self.memory.fault
        if fault is not None and self.control.is_running:
            self._steps.throw(StopError(*fault))
        else:
            next(self._steps, None)
        self.control.decoded.clock()
        self.memory.clock(self.cycle)
        self.fetch.clock()
        self._memory_system.clock()
        self.cycle += 1


@dataclass(frozen=True)
class Finished:
    """The end of a run: status of the host part, memory, cycles in all and of kernels, and counts."""

    status: int
    image: Image
    cycles: int
    kernel_cycles: int
    counts: Counter[str]


def run(
    image: Image, affine: Affine = Affine.OFF, *, behind: Callable[[Image], Memory] = IdealMemory,
    sizes: Sizes = EIGHT_LANES, limit: int = 1 << 24,
) -> Finished:
    """Execute a memory image on an engine of some `sizes` until the host part halts; `behind` makes what is behind the
    ports. Raises `ExecutionError` after `limit` cycles."""
    memory = behind(image)
    engine = Engine(memory, affine, sizes)
    while not engine.halted:
        if engine.cycle == limit:
            raise ExecutionError(f"the engine has not halted after {limit} cycles: raise the limit, or look for a loop "
                                 "that does not end")
        engine.clock()
    assert engine.host.status is not None
    counts = engine.control.counts + engine.execution.counts + Counter({
        "narrow_requests": engine.memory.requests[False], "wide_requests": engine.memory.requests[True],
        "bytes": engine.memory.bytes, "fetches": engine.kernel_fetches})
    return Finished(engine.host.status, memory.image(), engine.cycle, engine.kernel_cycles, counts)
