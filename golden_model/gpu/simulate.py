"""Runs a trace on a GPU, from the first cycle until all SMs have finished and every request is answered."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from warploom.arch.chunks import chunks_of
from warploom.arch.gpu import BlockOrder, GpuConfig
from warploom.arch.layout import check_fits
from warploom.golden_model.front_end.blocks import Blocks
from warploom.golden_model.gpu.block_scheduler import BlockScheduler
from warploom.golden_model.gpu.clocks import Events
from warploom.golden_model.gpu.core import Core
from warploom.golden_model.gpu.duplicates import Duplicates
from warploom.golden_model.gpu.limits import ByFreeRows, ByWaiting, Control, Limit, MemoryWaits
from warploom.golden_model.gpu.load_store import LoadStore
from warploom.golden_model.gpu.memory import MemorySystem
from warploom.golden_model.gpu.samples import Samples
from warploom.golden_model.gpu.shares import Grid, Share
from warploom.golden_model.gpu.statistics import GpuStatistics, collect_gpu, together
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, collect
from warploom.golden_model.trace import Traced

LIMITED = (BlockOrder.TUBA, BlockOrder.DYNCTA)
"""Block schedulers that limit the blocks of an SM."""


@dataclass(frozen=True)
class GpuRun:
    """A finished simulation: the statistics of the GPU, those of each SM, and their sum; and with renaming, by SM, the
    free TFET rows every 1,024 cycles (`Samples`) until it has finished."""

    statistics: GpuStatistics
    sms: tuple[Statistics, ...]
    summed: Statistics
    free_rows: tuple[tuple[int, ...], ...]


def simulate_gpu(config: GpuConfig, trace: Traced, *, check: bool = False,
                 prepare: Callable[[Sm], object] | None = None) -> GpuRun:
    """Simulate a trace to its end. The caches are empty at its start. Raises `LaunchError` if the launch does not fit
    an SM, `ExecutionError` if it cannot go on. For `check` see `Sm`; an experiment can `prepare` each SM before its
    first cycle."""
    check_fits(config.sm, trace.program, trace.launch)
    events, duplicates = Events(), Duplicates()
    chunks = chunks_of(config, trace.program, trace.launch, trace.blocks)
    grid, scheduler = Grid(Blocks(trace)), BlockScheduler(config.sms, chunks)
    memory = MemorySystem(config, events)
    sms, units, samples = [], [], []
    for number in range(config.sms):
        core = Core(events, memory.core)
        unit = LoadStore(config.sm, trace.program, memory.connect(number, core),
                         partial(duplicates.allocated, number))
        limit = Limit(config.sm.blocks) if config.block_scheduler in LIMITED else None
        core.sm = Sm(config.sm, trace, memory=unit, blocks=Share(scheduler, grid, number, limit), check=check)
        if prepare is not None:
            prepare(core.sm)
        core.control = _control(config, core.sm, limit) if limit is not None else None
        if config.sm.renames:
            core.control = Samples(core.control, partial(_free_rows, core.sm))
            samples.append(core.control)
        sms.append(core.sm)
        units.append(unit)
        core.wake(0)
    events.run()
    for sm in sms:
        if not sm.finished:
            raise sm.stuck()
    cycles = max(*(port.last for port in memory.ports), *(sm.cycle for sm in sms))
    statistics = collect_gpu(memory, sms, units, duplicates, cycles)
    assert statistics.requests == statistics.answers, "a request without an answer"
    runs = tuple(collect(sm) for sm in sms)
    return GpuRun(statistics, runs, together(runs, cycles), tuple(tuple(each.found) for each in samples))


def _control(config: GpuConfig, sm: Sm, limit: Limit) -> Control:
    """What changes the limit of an SM."""
    if config.block_scheduler is BlockOrder.DYNCTA:
        return ByWaiting(limit, MemoryWaits(sm))
    rows = config.sm.banks * config.sm.tfet_rows
    return ByFreeRows(limit, sm.front_end.residency, rows, partial(_free_rows, sm))


def _free_rows(sm: Sm) -> int:
    """The TFET rows in the lists of an SM."""
    return sm.datapath.tfet_free
