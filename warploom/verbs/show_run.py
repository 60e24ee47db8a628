"""What ``warploom run`` and ``warploom demo`` show of a launch: what was executed, and its timing on an SM."""

from warploom import report
from warploom.arch.errors import warn
from warploom.arch.mechanisms import MECHANISMS
from warploom.golden_model.statistics import Statistics
from warploom.running import Executed
from warploom.verbs import Body


def describe(executed: Executed) -> Body:
    """The kernel, its launch, the amount executed, and the comparison of the results."""
    file, program, execution = executed.file, executed.program, executed.execution
    return {
        "kernel": {"entry": program.name, "launch_file": str(file.path), "ptx": program.source,
                   "registers": program.registers, "instructions": len(program.instructions),
                   "shared_bytes": program.shared_bytes + file.launch.dynamic_shared,
                   "grid": list(file.launch.grid), "block": list(file.launch.block)},
        "execution": {"warp_instructions": execution.warp_instructions,
                      "thread_instructions": execution.thread_instructions, "printed": execution.printed},
        "warnings": list(executed.warnings),
        "checked": [expectation.name for expectation in file.expectations],
        "mismatches": list(executed.mismatches),
        "failure": executed.mismatches[0] if executed.mismatches else None,
    }


def show(executed: Executed) -> None:
    """Print the amount executed, and warnings to standard error."""
    for warning in executed.warnings:
        warn(warning)
    launch, program, execution = executed.file.launch, executed.program, executed.execution
    report.fields(f"{program.name}: {executed.file.path}", {
        "grid x block": f"{extents(launch.grid)} x {extents(launch.block)} threads",
        "registers per thread": program.registers,
        "shared memory per block, bytes": program.shared_bytes + launch.dynamic_shared,
        "warp instructions": execution.warp_instructions,
        "thread instructions": execution.thread_instructions,
        "results": executed.verdict,
    })
    show_printed(execution.printed)
    if executed.mismatches:
        report.table("Not as expected", ("what",), [[line] for line in executed.mismatches])


def show_printed(text: str) -> None:
    """Print the kernel's text, unchanged."""
    if text:
        report.text("Printed by the kernel", text)


def show_timing(statistics: Statistics) -> None:
    """Print the stalls and the statistics of the register file."""
    s = statistics
    report.fields(f"Timing on {s.preset}", {
        "cycles": s.cycles,
        "IPC (warp instructions per cycle)": s.ipc,
        "occupancy (resident warps / warp slots)": s.occupancy,
        "bank requests": f"{s.bank_requests:,} ({sum(s.bank_reads):,} reads, {sum(s.bank_writes):,} writes)",
        "bank accesses": f"{s.bank_accesses:,} ({_coalesced(s)})",
        "collector writes": f"{s.collector_writes:,}, of {s.operands_stored:,} operands",
        "refused requests": f"{s.bank_conflicts:,} bank conflicts, {s.port_conflicts:,} port conflicts",
        "instructions reading 0, 1, 2, 3 registers": ", ".join(f"{count:,}" for count in s.operands),
        "source operands of 1, 2, 3, 4 bytes": ", ".join(f"{count:,}" for count in s.source_widths),
        "L1": f"{s.l1_hits:,} hits, {s.l1_misses:,} misses, {s.l1_merges:,} merged",
        "shared memory": f"{s.shared_instructions:,} instructions, {s.shared_passes:,} passes",
        "columns of 4 B enabled": f"{s.column_reads:,} for reading, {s.column_writes:,} for writing",
        "lanes of SP and SFU": f"{s.lane_operations:,}, {_share(s.lanes_inactive, s)} inactive, "
                               f"{_share(s.lanes_trivial, s)} trivial",
        **{what: f"{s.counted[events.key][name]:,}" for mechanism in MECHANISMS for events in mechanism.events
           for name, what in events.shown.items() if name in s.counted[events.key]},
    })
    idle = sum(s.stalls.values())
    report.table("Scheduler cycles without an issue", ("cause", "cycles", "share"),
                 [(cause, count, f"{count / idle:.1%}") for cause, count in s.stalls.items() if count])


def _coalesced(statistics: Statistics) -> str:
    pairs = [f"{count:,} {kind.replace('_', '-')}" for kind, count in statistics.coalesced.items() if count]
    return f"with two requests: {', '.join(pairs)}" if pairs else "one request each"


def _share(lanes: int, statistics: Statistics) -> str:
    return f"{lanes / max(statistics.lane_operations, 1):.1%}"


def extents(three: tuple[int, int, int]) -> str:
    """A grid or block without the trailing dimensions of 1."""
    used = [*three]
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return str(used[0]) if len(used) == 1 else f"({', '.join(map(str, used))})"
