"""`GpuStatistics` of a run on a GPU: plain numbers with a stable JSON form."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from warploom.golden_model.gpu.duplicates import Duplicates
from warploom.golden_model.gpu.l1 import HISTOGRAM
from warploom.golden_model.gpu.load_store import LoadStore
from warploom.golden_model.gpu.memory import MemorySystem
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, added, total


@dataclass(frozen=True)
class GpuStatistics:
    """One run on a GPU. Everything is a count unless said otherwise.

    By SM: `cycles` until it had finished, `warp_instructions`, `waits` (cycles in which a transaction of the load/store
    unit waited, by cause: `warploom.golden_model.gpu.load_store.Wait`) and `mshr_cycles` (MSHRs in use, summed over its
    cycles). `entries` are MSHRs that were taken, `duplicates` those for whose line another SM had taken one at most
    2,000 cycles before; `loads_per_entry` (from 1 on) and `latencies` (from look-up to arrival, in buckets of
    `latency_bucket` cycles) are histograms of entries. L2 and DRAM by slice and by channel; `data_cycles` are cycles of
    a channel's clock in which its bus moves data. `seconds` are the cycles of the whole run in time. `dram_seconds` are
    longer if DRAM still writes then, after the last answer: they end with its last data.
    """

    gpu: str
    run_cycles: int  # of the SMs' clock, until all have finished and every request is answered
    seconds: float
    dram_seconds: float
    cycles: list[int]
    warp_instructions: list[int]
    waits: dict[str, list[int]]
    mshr_cycles: list[int]
    mshrs: int  # of one SM
    entries: int
    duplicates: int
    loads_per_entry: list[int]
    latency_bucket: int
    latencies: list[int]
    requests: int
    answers: int
    request_flits: int
    answer_flits: int
    l2_hits: list[int]
    l2_misses: list[int]
    l2_merges: list[int]
    l2_allocated: list[int]
    l2_written: list[int]
    dram_reads: list[int]
    dram_writes: list[int]
    dram_activates: list[int]
    dram_data_cycles: list[int]
    line_bytes: int
    dram_mhz: int

    @property
    def ipc(self) -> list[float]:
        """Warp instructions of each SM by cycle of its own."""
        return [count / max(cycles, 1) for count, cycles in zip(self.warp_instructions, self.cycles, strict=True)]

    @property
    def row_hits(self) -> float:
        """Share of the DRAM accesses that found their row open."""
        accesses = sum(self.dram_reads) + sum(self.dram_writes)
        return 1 - sum(self.dram_activates) / accesses if accesses else 0.0

    @property
    def bytes_per_second(self) -> float:
        """What DRAM moved, by second of `dram_seconds`."""
        return (sum(self.dram_reads) + sum(self.dram_writes)) * self.line_bytes / self.dram_seconds

    @property
    def bus_utilisation(self) -> float:
        """Share of `dram_seconds` in which the buses of DRAM moved data."""
        return sum(self.dram_data_cycles) / (self.dram_seconds * self.dram_mhz * 10**6 * len(self.dram_data_cycles))

    @property
    def mean_latency(self) -> float:
        """Cycles from look-up to arrival: the mean over MSHRs."""
        return sum(self.mshr_cycles) / self.entries if self.entries else 0.0

    def to_json(self) -> dict[str, Any]:
        """The fields and the figures that follow from them, by name, ready for `json.dump`."""
        derived = ("ipc", "row_hits", "bytes_per_second", "bus_utilisation", "mean_latency")
        return asdict(self) | {name: getattr(self, name) for name in derived}


def collect_gpu(
    memory: MemorySystem, sms: Sequence[Sm], units: Sequence[LoadStore], duplicates: Duplicates, cycles: int
) -> GpuStatistics:
    """The statistics of a finished GPU, which took so many cycles of its SMs."""
    config = memory.config
    slices, channels = [slice_.counts for slice_ in memory.slices], [channel.counts for channel in memory.channels]
    seconds = cycles / (config.core_mhz * 10**6)
    dram_end = max(counts.data_end for counts in channels) / (config.dram_mhz * 10**6)
    return GpuStatistics(
        gpu=config.name, run_cycles=cycles, seconds=seconds, dram_seconds=max(seconds, dram_end),
        cycles=[sm.cycle for sm in sms],
        warp_instructions=[sm.front_end.residency.counts.warp_instructions for sm in sms],
        waits={str(cause): [unit.waits[cause] for unit in units] for cause in units[0].waits},
        mshr_cycles=[unit.l1.occupied for unit in units], mshrs=config.sm.mshrs, entries=duplicates.taken,
        duplicates=duplicates.duplicates,
        loads_per_entry=_histogram(_sum([unit.l1.loads_per_entry for unit in units]))[1:],
        latency_bucket=HISTOGRAM, latencies=_histogram(_sum([unit.l1.latencies for unit in units])),
        requests=sum(port.sent for port in memory.ports), answers=sum(port.answered for port in memory.ports),
        request_flits=memory.requests.flits, answer_flits=memory.answers.flits,
        l2_hits=[counts.hits for counts in slices], l2_misses=[counts.misses for counts in slices],
        l2_merges=[counts.merges for counts in slices], l2_allocated=[counts.allocated for counts in slices],
        l2_written=[counts.written for counts in slices], dram_reads=[counts.reads for counts in channels],
        dram_writes=[counts.writes for counts in channels], dram_activates=[counts.activates for counts in channels],
        dram_data_cycles=[counts.data_cycles for counts in channels], line_bytes=config.line_bytes,
        dram_mhz=config.dram_mhz,
    )


_SAME = ("gpu", "mshrs", "latency_bucket", "line_bytes", "dram_mhz")
"""Fields that all launches on a GPU have in common."""


def in_sequence(runs: Sequence[GpuStatistics]) -> GpuStatistics:
    """The sum of one launch or more on the same GPU, one after the other."""
    names = [field.name for field in fields(GpuStatistics) if field.name not in _SAME]
    return replace(runs[0], **{name: added([getattr(run, name) for run in runs]) for name in names})


def together(runs: Sequence[Statistics], cycles: int) -> Statistics:
    """The sum of the statistics of SMs that ran side by side for so many cycles. IPC is that of all SMs, occupancy
    their mean."""
    summed = total(runs)
    return replace(summed, cycles=cycles, ipc=summed.warp_instructions / cycles,
                   occupancy=sum(run.occupancy * run.cycles for run in runs) / (cycles * len(runs)))


def _sum(counters: Sequence[Counter[int]]) -> Counter[int]:
    return sum(counters, Counter[int]())


def _histogram(counter: Mapping[int, int]) -> list[int]:
    """Counts from 0 on."""
    return [counter.get(key, 0) for key in range(max(counter, default=0) + 1)]
