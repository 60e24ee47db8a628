"""The worked examples of the sources, by number and figure."""

from collections import deque
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import Tag
from warploom.arch.isa import Op
from warploom.arch.layout import address
from warploom.arch.mechanisms import Alignment, Bypass, Gating
from warploom.arch.program import Program
from warploom.compiler.writeback_hints import Destination, annotate, destination
from warploom.golden_model.arbiter import Arbiter
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Read
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.width import Encoding, renew
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Zero
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import ALL_LANES, join, split
from warploom.kernels.launchfile import load
from warploom.running import run
from warploom.tb.bypass.figures import FIG_6, FIG_6_LAUNCH, TABLE_1, WINDOW, spaced
from warploom.tb.gating.figures import FIG_4_3, FIG_4_4, FIG_4_5

PATHS = SmConfig().write_paths


def test_000_fig_3_16a() -> None:
    """Baseline arbitration takes three cycles, with exactly the grants of docs/contract/register_file.md."""
    wanted = {0: {1, 2}, 1: {0, 3}, 2: {0, 2}, 3: {1, 3}}  # bank: collectors
    arbiter = Arbiter(banks=4, collectors=4, paths=PATHS)
    cycles = []
    while any(wanted.values()):
        requests = [sum(1 << collector for collector in wanted[bank]) for bank in range(4)]
        _, grants = arbiter.arbitrate([None, None, None], requests)
        cycles.append({(bank, collector) for bank, collector in enumerate(grants) if collector is not None})
        for bank, collector in cycles[-1]:
            wanted[bank].remove(collector)
        arbiter.advance()
    assert cycles == [{(1, 3), (2, 2), (3, 1)}, {(0, 1), (1, 0), (3, 3)}, {(0, 2), (2, 0)}]


def test_000_fig_3_16b() -> None:
    """The requests of Fig. 3.16(a) with the widths and masks of (b) take one cycle when they coalesce."""
    right, left = 0, 1
    requests = {
        Read(0, left, 2, 2): 0b1100, Read(0, right, 1, 2): 0b0011, Read(1, left, 3, 2): 0b1100,
        Read(1, right, 0, 1): 0b0001, Read(2, left, 0, 3): 0b1110, Read(2, right, 2, 1): 0b0001,
        Read(3, left, 1, 1): 0b1000, Read(3, right, 3, 2): 0b0011,
    }
    assert all(read.mask == mask for read, mask in requests.items())
    decision = CoalescingArbiter(4, 4, Alignment.REG, PATHS).decide((None, None, None), list(requests))
    assert set(decision.reads) == set(requests)
    assert decision.bank_conflicts == decision.port_conflicts == 0


def test_000_fig_4_3() -> None:
    """The active mask gates reads of threads that do not execute, the zero mask also those of zeros."""
    figure = FIG_4_3
    assert LaneOrder(Gating.ACTIVE).needed(figure.active, Zero(0)) == figure.active
    for gating in (Gating.IN_LANE, Gating.CROSS_LANE):
        rules, zero = LaneOrder(gating), Zero(figure.zero)
        assert rules.needed(figure.active, zero) == figure.enabled
        threads = [rules.needed(1 << thread, zero) for thread in range(4)]  # each is controlled by its own bits
        assert threads == [0 if figure.zero >> thread & 1 else 1 << thread for thread in range(4)]
        read = split(rules.restore(join([*figure.held, *[0] * 28]), zero))
        assert all(read[thread] == figure.arrives[thread] for thread in range(4) if figure.active >> thread & 1)


def test_000_fig_4_4() -> None:
    """The zero masks of four lanes; each group selects the one with more zeros."""
    word = join([value for example in FIG_4_4 for value in example.lanes] + [0] * (32 - 4 * len(FIG_4_4)))
    in_lane, selected = (LaneOrder(gating).renew(Zero(0), word, ALL_LANES, full=True)
                         for gating in (Gating.IN_LANE, Gating.CROSS_LANE))
    old = Encoding(1, 0, left=False)
    stored = renew(old, word, ALL_LANES, full=True, side=False)
    across = Interleaved(Gating.CROSS_LANE).renew(Zero(0), old, stored, word, ALL_LANES, full=True)
    for group, example in enumerate(FIG_4_4):
        lanes = 4 * group
        assert in_lane.zero.mask >> lanes & 0xF == example.in_lane
        assert in_lane.columns >> lanes & 0xF == 0xF ^ example.in_lane  # zeros are not written
        assert [across.zero.mask >> 8 * byte + group & 1 for byte in range(4)] == [
            example.cross_lane >> byte & 1 for byte in range(4)
        ]
        assert selected.zero.reorder >> group & 1 == example.reorder
        mask = example.cross_lane if example.reorder else example.in_lane
        assert selected.zero.mask >> lanes & 0xF == mask
        assert selected.columns >> lanes & 0xF == 0xF ^ mask


def test_000_fig_4_5() -> None:
    """Six switches, which are their own inverse, put bytes of the same position side by side; zeros then share
    columns."""
    for example in FIG_4_5:
        for group in range(8):
            before, after = (join([*[0] * 4 * group, *four, *[0] * (28 - 4 * group)]) for four in example)
            assert reorder(before, 1 << group) == after
            assert reorder(after, 1 << group) == before
            assert reorder(before, 0xFF ^ 1 << group) == before
    low_range = FIG_4_5[1].lanes
    write = LaneOrder(Gating.CROSS_LANE).renew(Zero(0), join([*low_range, *[0] * 28]), 0xF, full=True)
    assert write.zero == Zero(0xFFFF_FFFE, reorder=1)
    assert write.columns == 1
    assert reorder(write.byte_mask, 1) == 0xFFFF_FFFF


def test_001_fig_6() -> None:
    """The destinations of the program in section IV-B, line by line: $r3 is read 12 lines later, $r1 of line 10 is read
    in the window and after it, all others are transient."""
    classes = {line: destination(i) for line, i in zip(FIG_6.lines, annotate(FIG_6, WINDOW).instructions, strict=True)}
    others = dict.fromkeys((3, 4, 5, 6, 7, 8, 9, 11, 12, 13), Destination.COLLECTOR)
    written = {2: Destination.FILE, 10: Destination.BOTH} | others
    assert {line: place for line, place in classes.items() if place is not None} == written


@pytest.mark.parametrize(("bypass", "expected"), [
    (Bypass.OFF, TABLE_1.write_through), (Bypass.BOW, TABLE_1.write_through),
    (Bypass.BOW_WR, TABLE_1.write_back), (Bypass.BOW_HINTS, TABLE_1.hinted),
])
def test_001_table_1(bypass: Bypass, expected: tuple[int, ...]) -> None:
    """Writes to the register file of $r0 to $r3 until the last line has issued, for the program as it is printed in
    Fig. 6.

    The table says that $r2 is written through twice, and 10 writes in all; but the program writes it three times, in
    lines 3, 11 and 12. All other cells hold.
    """
    config = SmConfig.preset("small").with_settings([f"bypass={bypass}", f"window={WINDOW}"])
    assert register_writes(config, annotate(FIG_6, WINDOW) if bypass.has_hints else FIG_6) == expected


def register_writes(config: SmConfig, program: Program) -> tuple[int, ...]:
    """Writes of the bank rows of registers 0 to 3 until the ISETP has issued; a collector has 8 cycles after each
    instruction to evict values that have left the window."""
    trace = execute(spaced(program, 8), FIG_6_LAUNCH).trace
    assert trace is not None
    sm, issued, found = Sm(config, trace, check=True), False, [0] * program.registers
    registers = {address(config, sm.stride, 0, register): register for register in range(program.registers)}
    while not issued:
        sm.step()
        issued = sm.inputs.issue and sm.inputs.issue[0]["op"] == Op.ISETP
        for write in sm.datapath.writes():
            found[registers[write.bank, write.row]] += 1
    return tuple(found[:4])


ABM = SmConfig.preset("small").with_settings(["affine=abm"])

FIG_1 = [
    (Op.S2R, "u"), (Op.S2R, "u"), (Op.S2R, "a"),  # %ntid.x, %ctaid.x, %tid.x
    (Op.IMAD, "a"),  # mad
    (Op.MOV, "u"), (Op.IMAD, "a"), (Op.IMAD, "u"),  # shl and add: the high word of an address is uniform
    (Op.LD, "a"), (Op.IMUL, "g"), (Op.ST, "a"), (Op.ISETP, "g"),
    (Op.MOV, "u"), (Op.ST, "a"),  # L1: the store has a guard here
]
"""Our machine code for the kernel of [AFFINE], Fig. 1(a), with the labels of (c) and (d). Parameters are operands here;
the branch is a guard, and the constant is moved before it."""


@pytest.mark.parametrize(("above", "stores"), [("none", 1), ("some", 2), ("all", 2)])
def test_002_fig_1(above: str, stores: int) -> None:
    """No, some and all threads are above the threshold. The address and the value of the guarded store are compact in
    each case: nothing is written under divergence."""
    execution = run(load(Path(__file__).parent / "ptx" / f"threshold_{above}.toml"), ABM).execution
    products = 3 * (np.arange(32) + {"none": 0, "some": 20, "all": 40}[above])
    assert execution.buffers["y"].view(np.int32).tolist() == np.where(products > 100, 255, products).tolist()
    assert execution.trace is not None
    assert labels(execution.trace) == FIG_1[: len(FIG_1) + stores - 2]


def labels(trace: Trace) -> list[tuple[Op, str]]:
    """The outcome of each instruction of the golden SM's one warp: the tag of the result of an accepted attempt, and of
    the address of a load or store; all others are generic."""
    sm = Sm(ABM, trace, check=True)
    assert sm.datapath.affine is not None
    registers, found, attempts, written = sm.datapath.affine.registers, [], deque[Mapping[str, int]](), None
    while True:
        sm.step()
        if written is not None:
            found.append((Op(written["op"]), "gua"[registers.tag(0, written["dst"])]))
        if sm.finished:
            return found
        if (issue := next(iter(sm.inputs.issue), None)) is not None:
            tag = registers.tag(0, issue["src0"]) if issue["op"] in (Op.LD, Op.ST) else Tag.GENERIC
            found.append((Op(issue["op"]), "gua"[tag]))
        attempts.extend(filter(None, sm.inputs.attempts))
        written = None
        for outcome in filter(None, sm.datapath.affine.outcomes):
            oldest = attempts.popleft()
            written = oldest if outcome["accepted"] else None
            if not outcome["accepted"]:
                attempts.clear()
