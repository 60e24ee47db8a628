"""What ``warploom run --gpu`` prints and writes of a GPU, beside what it does of an SM."""

from collections.abc import Sequence

from warploom import report
from warploom.golden_model.gpu.simulate import GpuRun
from warploom.golden_model.gpu.statistics import GpuStatistics, in_sequence
from warploom.verbs import Body


def gpu_body(runs: Sequence[GpuRun]) -> Body:
    """The statistics of the launches on a GPU: their sum, and each launch with those of its SMs."""
    launches = [{**run.statistics.to_json(), "sms": [sm.to_json() for sm in run.sms]} for run in runs]
    return {**in_sequence([run.statistics for run in runs]).to_json(), "launches": launches}


def show_gpu(launches: Sequence[GpuStatistics]) -> None:
    """Print the sum of the launches."""
    s = in_sequence(launches)
    loads = sum(count * loads for loads, count in enumerate(s.loads_per_entry, 1))
    report.fields(f"Memory of {s.gpu}", {
        "cycles until all requests are answered": s.run_cycles,
        "requests of the SMs": f"{s.requests:,}, {s.request_flits:,} flits; answers: {s.answer_flits:,} flits",
        "MSHRs in use, mean": f"{sum(s.mshr_cycles) / max(sum(s.cycles), 1):.2f} of {s.mshrs} in each SM",
        "loads of an MSHR, mean": loads / max(s.entries, 1),
        "MSHRs for a line of another SM's within 2,000 cycles": f"{s.duplicates:,} of {s.entries:,}, "
                                                                f"{s.duplicates / max(s.entries, 1):.1%}",
        "latency beyond the look-up, mean cycles": s.mean_latency,
        f"latencies, by {s.latency_bucket} cycles": ", ".join(f"{count:,}" for count in s.latencies),
        "L2": f"{sum(s.l2_hits):,} hits, {sum(s.l2_misses):,} misses, {sum(s.l2_merges):,} merged, "
              f"{sum(s.l2_allocated):,} written whole, {sum(s.l2_written):,} lines written to DRAM",
        "DRAM": f"{sum(s.dram_reads):,} reads, {sum(s.dram_writes):,} writes, {s.row_hits:.1%} with their row open",
        "bandwidth of DRAM": f"{s.bytes_per_second / 1e9:.1f} GB/s, buses in use {s.bus_utilisation:.1%}",
    })
    report.table("SMs: cycles, and cycles in which a transaction waited, by cause",
                 ("SM", "cycles", "warp instructions", "IPC", *(f"for {cause}" for cause in s.waits)),
                 [(str(sm), cycles, instructions, ipc, *(waits[sm] for waits in s.waits.values()))
                  for sm, (cycles, instructions, ipc) in
                  enumerate(zip(s.cycles, s.warp_instructions, s.ipc, strict=True))])
