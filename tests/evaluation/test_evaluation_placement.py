"""The evaluation of placement: kernels as threads, figures by hand, and the command."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.cli import main
from warploom.evaluation.placement import experiment as placement
from warploom.evaluation.placement.runs import COUNTS, INPUTS, ROUNDS, SPEEDS, Placed, place, setting
from warploom.evaluation.workloads import traces
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.kernels.library import kernels
from warploom.placement import programs
from warploom.placement.policy import Policy
from warploom.placement.programs import FAULT, FORK, Piece, pieces, threads
from warploom.placement.scheduler import Machine, simulate
from warploom.placement.threads import Barrier, Compute, Fork, Phase, Wait

# ------------------------------------------------------------------ kernels as threads

ONE_CYCLE_EACH = Piece(2660, frozenset({1}))
"""A microsecond of instructions, and line 1, which is in page 0."""


def children(main: Sequence[Phase]) -> list[Sequence[Phase]]:
    """What the parent forks."""
    return [phase.phases for phase in main if isinstance(phase, Fork)]


OTHER_TIMES = [(15, 0), (5, 5), (50, 15), (30, 100)]
"""Fork and page fault, in µs."""


@pytest.mark.parametrize(("fork", "fault"), OTHER_TIMES)
@pytest.mark.parametrize("name", ["bfs", "hotspot", "pathfinder"])
def test_other_times_lead_to_the_same_conclusion(
    name: str, fork: int, fault: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the patched scheduler each thread has a core of its own, and 16 threads take much less time."""
    monkeypatch.setattr(programs, "FORK", 1000 * fork)
    monkeypatch.setattr(programs, "FAULT", 1000 * fault)
    work = threads(pieces(*traces(name, "tiny")), 16, ROUNDS, 800)
    before, after = (simulate(Machine(policy=policy), work) for policy in (Policy.CURRENT, Policy.PATCHED))
    cores, of_their_own = ([*outcome.first_cores().values()] for outcome in (before, after))
    assert len({*cores}) < len({*of_their_own}) == len(of_their_own)
    assert before.time > 1.5 * after.time


@pytest.mark.parametrize(("mhz", "page", "line"), [(200, 2560, 40), (800, 640, 10)])
def test_a_thread_by_hand(mhz: int, page: int, line: int) -> None:
    """A page of 4096 B takes 512 cycles of the bus, a line of 64 B takes 8."""
    launch, end = Barrier("launch", 1), Barrier("end", 2)
    compute = Compute(1000 + 60 + line)
    assert threads([ONE_CYCLE_EACH], 2, 3, mhz) == (
        Compute(FORK), Fork((Wait(FAULT + page), compute, launch, compute, launch, compute, launch, end)), end)


def test_a_page_faults_once_and_a_line_is_fetched_by_each_thread() -> None:
    one = Piece(0, frozenset({0, 63}))  # both lines are in page 0; line 64 is in page 1
    first, second = children(threads([one, one, Piece(0, frozenset({0, 64}))], 3, 1, 800))
    assert [phase for phase in first if isinstance(phase, Wait | Compute)] == [
        Wait(FAULT + 640), Compute(2 * 70), Compute(0)]
    assert [phase for phase in second if isinstance(phase, Wait | Compute)] == [Wait(FAULT + 640), Compute(2 * 70)]


@pytest.mark.parametrize("count", [2, 3, 8, 16])
def test_threads_share_all_the_work(count: int) -> None:
    """Every piece is in one share, and no share has two pieces more than another."""
    work = [Piece(2660 << number, frozenset()) for number in range(10)]
    shares = [sum(phase.time for phase in child if isinstance(phase, Compute)) // 1000
              for child in children(threads(work, count, 1, 800))]
    assert len(shares) == min(count - 1, 10)
    assert sum(shares) == 2**10 - 1
    sizes = [share.bit_count() for share in shares]
    assert max(sizes) - min(sizes) <= 1


def test_pieces_are_the_warps_and_their_lines_of_global_memory() -> None:
    """Lanes that do not execute touch nothing, nor do accesses to shared memory."""
    addresses = np.array([[64 * lane for lane in range(32)], [64 * (lane + 100) for lane in range(32)],
                          [4096] * 32], np.uint64)
    spaces = np.array([Space.GLOBAL, Space.SHARED, Space.GLOBAL], np.uint8)
    code = tuple(Instruction(op=Op.LD) for _ in range(4))
    lanes = np.array([0b101, 0xFFFFFFFF, 0, 0xF], np.uint32)
    none = np.full(4, NONE, np.int32)
    warp = WarpTrace(0, 0, 0xFFFFFFFF, np.arange(4, dtype=np.int32), lanes, lanes, lanes, none,
                     np.array([0, 1, 2, NONE], np.int32))
    trace = Trace(Program("k", "k.ptx", code, (0,) * 4, 3), None, (warp,), addresses.astype(np.uint32), addresses,
                  spaces)
    assert pieces(trace) == [Piece(2 + 32 + 4, frozenset({0, 2}))]


def test_a_kernel_as_threads() -> None:
    (trace,) = traces("hotspot", "tiny")
    work = pieces(trace)
    assert sum(piece.instructions for piece in work) == trace.thread_instructions
    machine = Machine(cores=17, policy=Policy.PATCHED)
    few, many = (simulate(machine, threads(work, count, 1000, 800)).time for count in (9, 17))
    assert 1.3 < few / many < 2  # four of its 32 warps each, or two: more lines are fetched twice


# ------------------------------------------------------------------ figures

NUMBERS = ["Fig. 1.2, 200 MHz", "Fig. 1.2, 800 MHz", "Fig. 5.7, 200 MHz", "Fig. 5.7, 800 MHz", "Fig. 5.8",
           "Section 5.4", "Fig. 5.6"]


def placed(**changes: int) -> Placed:
    """Times that are inversely proportional to threads and, a little, to the speed; twice as long without the patch."""
    times = {setting(policy, count, mhz): 120_000 // count * (1 + (policy is Policy.CURRENT)) - mhz
             for policy in Policy for count in COUNTS for mhz in SPEEDS}
    return Placed(times | {name.replace("_", " "): time for name, time in changes.items()},
                  dict.fromkeys(INPUTS, 150.0), dict.fromkeys(times, 2))


def measured(one: Placed) -> dict[str, dict[str, float]]:
    """Figures by number and series."""
    return {figure.number: {series: found.average(series) for series in found.values}
            for figure in placement.figures() for found in [figure.measure({"k": one})]}


def test_figures() -> None:
    found = measured(placed())
    assert list(found) == NUMBERS
    assert found["Fig. 1.2, 800 MHz"] == pytest.approx(
        {"8 threads": 100, "12 threads": 100 * 29200 / 19200, "15 threads": 100 * 29200 / 15200,
         "16 threads": 100 * 29200 / 14200})
    assert found["Fig. 1.2, 200 MHz"]["8 threads"] == pytest.approx(100 * 29200 / 29800)
    assert found["Fig. 5.7, 200 MHz"]["16 threads"] == pytest.approx(100 * 14200 / 7300)
    assert found["Fig. 5.8"] == pytest.approx({
        "current, 200 MHz": 100, "current, 800 MHz": 100 * 14800 / 14200, "patched, 200 MHz": 100 * 14800 / 7300,
        "patched, 800 MHz": 100 * 14800 / 6700})
    assert found["Section 5.4"] == {"current": 0, "patched": 0}
    assert found["Fig. 5.6"] == dict.fromkeys(INPUTS, 150)


def test_inverted_comparisons_are_counted() -> None:
    """With 16 comparisons: 15 threads at 800 MHz slower than with 12 and 8, and than at 200 MHz; 16 threads are not."""
    times = placed().times | {setting(Policy.PATCHED, 15, 800): 10**6}
    one = Placed(times, placed().loads, {})
    assert measured(one)["Section 5.4"] == pytest.approx({"current": 0, "patched": 100 * 3 / 16})


# ------------------------------------------------------------------ runs


def test_imbalance_and_its_cure() -> None:
    """Small, but whole: a launch with several forks while the first threads have ended theirs."""
    found = place([Piece(40_000, frozenset())] * 60)
    assert all(most == 1 for name, most in found.most.items() if name.startswith("patched"))
    assert any(most > 1 for name, most in found.most.items() if name.startswith("current"))
    assert found.time(Policy.CURRENT, 16, 800) > 1.5 * found.time(Policy.PATCHED, 16, 800)
    assert found.loads["small"] > found.loads["native"] > 99


def test_a_load_is_that_of_children() -> None:
    """Two children stay on one core: they never run long enough to be balanced. What their parent does for their forks
    is not theirs."""
    found = place([Piece(4_000, frozenset())] * 2)
    assert found.loads == pytest.approx(dict.fromkeys(INPUTS, 200))


def test_the_command(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(placement, "kernels", lambda: [kernel for kernel in kernels() if kernel.name == "vector_add"])
    path, charts = tmp_path / "placement.json", tmp_path / "charts"
    arguments = ["evaluate", "placement", "--size", "tiny", "--out", str(charts), "--json", str(path)]
    assert main(arguments) == 0
    document = json.loads(path.read_text())
    assert {file.name for file in charts.iterdir()} == {
        f"{figure.name}.{kind}" for figure in placement.figures() for kind in ("png", "svg")}
    assert document["placed"]["vector_add"]["times"].keys() == placed().times.keys()
    assert "Fig. 5.8" in capsys.readouterr().out
    first = path.read_bytes()
    assert main(arguments) == 0  # from the cache
    assert path.read_bytes() == first


@pytest.mark.parametrize("option", ["--preset=fermi", "--set=banks=2"])
def test_it_has_no_gpu_to_configure(option: str, capsys) -> None:
    assert main(["evaluate", "placement", option]) == 1
    assert "describe a GPU" in capsys.readouterr().err
