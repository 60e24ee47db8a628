"""`Statistics` of a run: plain numbers with a stable JSON form."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import zip_longest
from operator import attrgetter
from typing import Any

from warploom.arch.mechanisms import MECHANISMS
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.sm import Sm

NO_COUNTS = ("kernel", "preset", "ipc", "occupancy")
"""Fields of `Statistics` that are not counts."""


@dataclass(frozen=True)
class Statistics:
    """One run of one kernel on one SM. Everything is a count unless said otherwise.

    `stalls` are scheduler-cycles without an issue, by cause (`warploom.golden_model.front_end.stalls.Stall`); with the
    issues, the second instructions of pairs left out, they add up to ceil(cycles / `front_end_interval`) x schedulers.
    Issues are the warp instructions, the MOV that follows a BARRED (docs/contract/front_end.md), and with an affine
    unit refused attempts and expansions. `bank_reads` and `bank_writes` are granted requests by bank. A *bank access*
    is a bank and a cycle with at least one of them; a *collector write* is a collector and a cycle in which it stores
    at least one operand; conflicts are refused requests (docs/contract/counting.md). `operands` counts datapath
    instructions by the number of distinct registers that they read in the register file (0..3); the width lists count
    warp operands of the program by bytes (1..4). `collecting` and `living` are the cycles of datapath instructions from
    issue to dispatch, and from issue until done, for ``memory`` and ``other``. `counted` are events of mechanisms, by
    their key and their name (nothing without the mechanism); a histogram is a list. `lane_operations` counts the lanes
    of SP and SFU instructions, 32 for each: some are inactive, some trivial. Memory transactions are lines looked up or
    sent.
    """

    kernel: str
    preset: str
    cycles: int
    warp_instructions: int
    thread_instructions: int
    datapath_instructions: int
    ipc: float  # warp instructions per cycle
    occupancy: float  # resident warps over warp slots, mean over cycles
    stalls: dict[str, int]
    bank_requests: int
    bank_accesses: int
    coalesced: dict[str, int]  # accesses of two requests: "read_read", "write_write", "read_write"
    bank_reads: list[int]
    bank_writes: list[int]
    bank_conflicts: int
    port_conflicts: int
    collector_writes: int
    operands_stored: int
    slice_writes: int  # 32 B slices that operands stored in collectors hold
    sub_bank_reads: int  # the counters of `interfaces.ACTIVITY_FIELDS`
    sub_bank_writes: int
    column_reads: int
    column_writes: int
    collector_columns: int
    operand_columns: int
    lane_loads: int
    bypass_loads: int
    lane_operations: int
    lanes_inactive: int
    lanes_trivial: int
    collecting: dict[str, int]
    living: dict[str, int]
    operands: list[int]
    source_widths: list[int]
    destination_widths: list[int]
    l1_hits: int
    l1_misses: int
    l1_merges: int
    load_transactions: int
    store_transactions: int
    shared_instructions: int
    shared_passes: int
    memory_stall_cycles: int  # the load/store unit waits for an MSHR or the path beyond
    counted: dict[str, dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """The fields by name, including those of `counted`, ready for `json.dump`."""
        values = asdict(self)
        return values | values.pop("counted")

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Statistics":
        """The statistics that `to_json` wrote."""
        own = {field.name: values[field.name] for field in fields(cls) if field.name != "counted"}
        return cls(**own, counted={key: value for key, value in values.items() if key not in own})


def total(runs: Sequence[Statistics]) -> Statistics:
    """The sum of one run or more on the same SM, one after the other. Counts add: those in lists element by element,
    those in dicts by name. IPC and occupancy are of all cycles; `kernel` has the name of each kernel once."""
    counts = {field.name: added([getattr(run, field.name) for run in runs])
              for field in fields(Statistics) if field.name not in NO_COUNTS}
    cycles = counts["cycles"]
    return Statistics(kernel=", ".join(dict.fromkeys(run.kernel for run in runs)), preset=runs[0].preset,
                      ipc=counts["warp_instructions"] / cycles,
                      occupancy=sum(run.occupancy * run.cycles for run in runs) / cycles, **counts)


def scaled(run: Statistics, factor: float) -> Statistics:
    """A run with its counts multiplied and rounded: an estimate of the whole from a sample of its blocks."""
    counts = {field.name: _times(getattr(run, field.name), factor)
              for field in fields(Statistics) if field.name not in NO_COUNTS}
    return replace(run, **counts)


def _times(value: Any, factor: float) -> Any:
    """A number, or all those in a list or dict, multiplied and rounded."""
    if isinstance(value, dict):
        return {name: _times(inner, factor) for name, inner in value.items()}
    if isinstance(value, list):
        return [_times(inner, factor) for inner in value]
    return round(value * factor)


def added(values: Sequence[Any]) -> Any:
    """The sum of counts: of numbers, of lists element by element, of dicts by name; a short list ends in zeros."""
    if isinstance(values[0], dict):
        names = dict.fromkeys(name for value in values for name in value)
        return {name: added([value[name] for value in values if name in value]) for name in names}
    if isinstance(values[0], list):
        return [sum(column) for column in zip_longest(*values, fillvalue=0)]
    return sum(values)


def collect(sm: Sm) -> Statistics:
    """The statistics of a finished SM."""
    datapath, memory, lanes, counts = sm.datapath, sm.memory, sm.datapath.lanes.meter, sm.front_end.residency.counts
    register_file = datapath.register_file
    decided = sm.decisions.counts
    operands = counts.operands if decided is None else decided.operands
    return Statistics(
        kernel=sm.trace.program.name, preset=sm.config.name, cycles=sm.cycle,
        warp_instructions=counts.warp_instructions, thread_instructions=counts.thread_instructions,
        datapath_instructions=sum(operands), ipc=counts.warp_instructions / sm.cycle,
        occupancy=sm.occupied / (sm.cycle * sm.config.warps),
        stalls={stall.name.lower(): sm.front_end.stalls.counts[stall] for stall in Stall},
        **(register_file.traffic()._asdict() | datapath.activity()), lane_operations=lanes.operations,
        lanes_inactive=lanes.inactive, lanes_trivial=lanes.trivial, collecting=sm.times.collecting,
        living=sm.times.living,
        bank_reads=list(register_file.bank_reads), bank_writes=list(register_file.bank_writes),
        bank_conflicts=register_file.bank_conflicts, port_conflicts=register_file.port_conflicts, operands=operands,
        source_widths=counts.source_widths, destination_widths=counts.destination_widths, l1_hits=memory.l1.hits,
        l1_misses=memory.l1.misses, l1_merges=memory.l1.merges, load_transactions=memory.counts.load_transactions,
        store_transactions=memory.counts.store_transactions, shared_instructions=memory.counts.shared_instructions,
        shared_passes=memory.counts.shared_passes, memory_stall_cycles=memory.counts.stall_cycles,
        counted={events.key: _counted(sm, events.path) for mechanism in MECHANISMS for events in mechanism.events},
    )


def _counted(sm: Sm, path: str) -> dict[str, Any]:
    """The fields of a part's dataclass of counts, ready for `json.dump`; empty if there is none."""
    counts = attrgetter(path)(sm)
    if counts is None:
        return {}
    values = {field.name: getattr(counts, field.name) for field in fields(counts)}
    return {name: [value[key] for key in range(max(value, default=0) + 1)] if isinstance(value, Counter) else value
            for name, value in values.items()}
