"""Sums of statistics, estimates from samples, and what a run counts for its parts."""

from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from support.golden_traces import trace_of
from support.runs import statistics

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import _counted, collect, scaled, total

FIRST = statistics(
    kernel="forward", preset="small", cycles=100, warp_instructions=50, ipc=0.5, occupancy=0.5, operands=[1, 2, 3, 4],
    stalls={"memory": 7}, coalesced={"read_read": 3}, bypassed={"lost": [1, 2, 3], "fetched": 5})
SECOND = statistics(
    kernel="backward", preset="small", cycles=300, warp_instructions=450, ipc=1.5, occupancy=0.25,
    operands=[10, 20, 30, 40], stalls={"memory": 1, "barrier": 2}, bypassed={"lost": [4], "fetched": 6})


def test_a_total_is_of_all_cycles() -> None:
    """Ratios are not the mean of those of the runs: the second one takes three times as long."""
    whole = total([FIRST, SECOND, FIRST])
    assert (whole.kernel, whole.preset) == ("forward, backward", "small")
    assert (whole.cycles, whole.warp_instructions) == (500, 550)
    assert whole.ipc == 550 / 500
    assert whole.occupancy == (0.5 * 200 + 0.25 * 300) / 500


def test_a_total_adds_lists_and_dicts() -> None:
    """Element by element and name by name, also those that one run lacks."""
    whole = total([SECOND, FIRST])
    assert whole.operands == [11, 22, 33, 44]
    assert whole.stalls == total([FIRST, SECOND]).stalls == {"memory": 8, "barrier": 2}
    assert whole.counted["bypassed"] == {"lost": [5, 2, 3], "fetched": 11}


def test_an_estimate_is_rounded() -> None:
    """All counts, and nothing else."""
    estimate = scaled(FIRST, 1.25)
    assert (estimate.cycles, estimate.warp_instructions) == (125, 62)  # 62.5 is rounded to even
    assert estimate.operands == [1, 2, 4, 5] and estimate.stalls == {"memory": 9}
    assert estimate.counted["bypassed"] == {"lost": [1, 2, 4], "fetched": 6}
    assert (estimate.ipc, estimate.occupancy, estimate.kernel) == (0.5, 0.5, "forward")


@dataclass
class _Counts:
    found: int = 3
    sizes: Counter[int] = field(default_factory=lambda: Counter({0: 2, 3: 5}))


def test_a_histogram_is_a_list_up_to_its_largest_key() -> None:
    sm: Any = SimpleNamespace(part=_Counts(), empty=_Counts(0, Counter()), none=None)
    assert _counted(sm, "part") == {"found": 3, "sizes": [2, 0, 0, 5]}
    assert _counted(sm, "empty") == {"found": 0, "sizes": [0]}
    assert _counted(sm, "none") == {}


def test_each_count_comes_from_its_part() -> None:
    sm = Sm(SmConfig.preset("small"), trace_of([Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=3)]))
    while not sm.finished:
        sm.step()
    names = {
        "l1": {"hits": "l1_hits", "misses": "l1_misses", "merges": "l1_merges"},
        "counts": {name: name for name in ("load_transactions", "store_transactions", "shared_instructions",
                                           "shared_passes")} | {"stall_cycles": "memory_stall_cycles"},
        "meter": {"operations": "lane_operations", "inactive": "lanes_inactive", "trivial": "lanes_trivial"},
        "register_file": {"bank_conflicts": "bank_conflicts", "port_conflicts": "port_conflicts"},
    }
    parts: dict[str, Any] = {"l1": sm.memory.l1, "counts": sm.memory.counts, "meter": sm.datapath.lanes.meter,
                             "register_file": sm.datapath.register_file}
    expected = {}
    for number, (part, name) in enumerate([(part, name) for part, of in names.items() for name in of], 100):
        setattr(parts[part], name, number)
        expected[names[part][name]] = number
    found = collect(sm).to_json()
    assert {name: found[name] for name in expected} == expected
