"""The worked examples of the sources, by number and figure."""

from collections import deque
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.gated_runs import add
from support.golden_traces import random_trace, trace_of

from warploom.arch.compact import Tag
from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import ENCODING_FIELDS, WARP_BITS
from warploom.arch.isa import Instruction, Op, Pipe
from warploom.arch.layout import address
from warploom.arch.mechanisms import Alignment, Bypass, Gating, Scheduler
from warploom.arch.program import Program
from warploom.compiler.writeback_hints import Destination, annotate, destination
from warploom.evaluation.traces.reuse import WINDOWS, reuse
from warploom.golden_model.activity import LaneMeter
from warploom.golden_model.arbiter import Arbiter
from warploom.golden_model.bank import Bank
from warploom.golden_model.byte_order import from_sub_banks, sub_bank_mask, to_sub_banks
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Read
from warploom.golden_model.coalescing.crossbar import SlicedCrossbar
from warploom.golden_model.dual_bank import DualBank
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.integer import evaluate
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.width import Encoding, detect, renew, restore
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Zero
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.golden_model.trivial import Outcomes, outcomes
from warploom.golden_model.words import ALL_LANES, join, nonzero_lanes, split
from warploom.kernels.launchfile import load
from warploom.running import run
from warploom.tb.bypass.figures import FIG_6, FIG_6_LAUNCH, TABLE_1, WINDOW, spaced
from warploom.tb.gating.figures import FIG_4_3, FIG_4_4, FIG_4_5

PATHS = SmConfig().write_paths

THREAD_BYTES = [sum(4 * thread + byte << 8 * byte for byte in range(4)) for thread in range(32)]
"""A register in which byte j of thread i is 4i + j."""


def test_000_fig_2_6() -> None:
    """In the stored word each sub-bank of 32 bytes has all four bytes of eight threads, thread by thread."""
    word = join(THREAD_BYTES)
    bank = Bank(4)
    bank.write(1, word, ALL_LANES)
    stored = bank.data[1].to_bytes(128, "little")
    for sub_bank in range(4):
        slice_ = stored[32 * sub_bank : 32 * (sub_bank + 1)]
        assert list(slice_) == [4 * thread + byte for thread in range(8 * sub_bank, 8 * sub_bank + 8)
                                for byte in range(4)]
    bank.write(1, 0, 0xFF << 8)  # threads 8 to 15 are sub-bank 1, and no other
    assert bank.data[1].to_bytes(128, "little") == stored[:32] + bytes(32) + stored[64:]


def test_000_fig_2_8() -> None:
    """Section 2.1.5: two warp instructions enter SP in one cycle, each on 16 lanes for two cycles; SFU takes one in
    eight cycles, LD/ST one in two; all pipes take instructions in one cycle, and each delivers its results."""
    config = SmConfig.preset("fermi")
    sm, entries, writers = Sm(config, random_trace(5, warps=24, length=120), check=True), [], set()
    sm.step()
    while not sm.finished:
        entries.append((sm.cycle, {fields["pipe"] for fields in sm.datapath.dispatch if fields is not None}))
        writers |= {write.writer for write in sm.datapath.writes()}
        sm.step()
    shortest = {}
    for pipe in range(4):
        cycles = [cycle for cycle, pipes in entries if pipe in pipes]
        shortest[config.pipes[pipe].name] = min(after - before for before, after in pairwise(cycles))
    assert shortest == {"sp0": 2, "sp1": 2, "sfu": 8, "mem": 2}
    assert any({0, 1} <= pipes for _, pipes in entries)
    assert any({0, 2, 3} <= pipes or {1, 2, 3} <= pipes for _, pipes in entries)
    assert writers == {"sp0", "sp1", "sfu", "mem"}


@pytest.mark.parametrize(("writes", "reads", "granted", "conflicts"), [
    ([0, None, 0], [], ({"sp"}, set()), (1, 0)),
    ([1, None, None], [(1, 2)], ({"sp"}, set()), (1, 0)),
    ([None, None, 1], [(1, 2)], ({"mem"}, set()), (1, 0)),
    ([None] * 3, [(2, 0), (2, 3)], (set(), {(2, 3)}), (1, 0)),
    ([None] * 3, [(0, 1), (3, 1)], (set(), {(3, 1)}), (0, 1)),
], ids=["a, two writes", "b, execution", "b, memory", "c, two reads", "d, one collector"])
def test_000_fig_3_2(
    writes: list[int | None], reads: list[tuple[int, int]], granted: tuple[set[str], set[tuple[int, int]]],
    conflicts: tuple[int, int],
) -> None:
    """One of two requests is granted: bank conflicts (a) to (c), and the port conflict (d). `writes` are the banks of
    the latches of SP, SFU and memory, `reads` pairs of bank and collector; the priority begins at diagonal 0, on which
    is cell (3, 1), and goes on to 1, on which is (2, 3)."""
    requests = [sum(1 << collector for at, collector in reads if at == bank) for bank in range(4)]
    decision = Arbiter(banks=4, collectors=4, paths=PATHS).decide(writes, requests)
    written = {name for name, taken in zip(("sp", "sfu", "mem"), decision.writes, strict=True) if taken}
    assert (written, set(decision.reads)) == granted
    assert (decision.bank_conflicts, decision.port_conflicts) == conflicts


def test_000_fig_3_11() -> None:
    """Byte-interleaved outside, (a); thread-interleaved in the register file, (b): sub-bank k has byte k of all
    threads."""
    word = join(THREAD_BYTES)
    assert list(word.to_bytes(128, "little")) == list(range(128))
    form = to_sub_banks(word, left=False).to_bytes(128, "little")
    for sub_bank in range(4):
        assert list(form[32 * sub_bank : 32 * (sub_bank + 1)]) == [4 * thread + sub_bank for thread in range(32)]


@pytest.mark.parametrize("left", [False, True])
def test_000_fig_3_12(left: bool) -> None:
    """A result is written in the form of the sub-banks, and what is read there restores it: narrow values too, whose
    upper bytes nothing stores."""
    for value, width in ((0x12, 1), (0xFFFF_FF80, 1), (0x1234, 2), (0xFF12_3456, 3), (0x8000_0000, 4)):
        word = join([value] * 16 + [value & 0xFFFF_FF00 | 1 if width > 1 else value] * 16)
        stored = renew(Encoding(4, 0, left=False), word, ALL_LANES, full=True, side=left)
        bank = DualBank(4)
        bank.data[2] = to_sub_banks(join([0xA5A5_A5A5] * 32), left)  # what was there before
        bank.write(2, to_sub_banks(stored.word, left), to_sub_banks(stored.byte_mask, left))
        assert stored.encoding.width == width
        assert restore(from_sub_banks(bank.data[2], left), stored.encoding) == word


def test_000_fig_3_13() -> None:
    """A register of two bytes on the right, (a): byte 0 in sub-bank 0; on the left, (b): byte 0 in sub-bank 3."""
    word = join([0x0201] * 32)
    for left, sub_banks in ((False, (1, 2, 0, 0)), (True, (0, 0, 2, 1))):
        assert to_sub_banks(word, left).to_bytes(128, "little") == b"".join(bytes([byte]) * 32 for byte in sub_banks)
    assert [sub_bank_mask(width, left=False) for width in range(1, 5)] == [0b0001, 0b0011, 0b0111, 0b1111]
    assert [sub_bank_mask(width, left=True) for width in range(1, 5)] == [0b1000, 0b1100, 0b1110, 0b1111]


@pytest.mark.parametrize("coalesced", [True, False], ids=["0011 and 1100", "0111 and 1100"])
def test_000_section_3_6_2_4(coalesced: bool) -> None:
    """A right request of mask 0111 and a left one of 1100 meet in sub-bank 2, so that one of them waits; 0011 and 1100
    share the access."""
    right, left = Read(0, 0, 0, 2 if coalesced else 3), Read(0, 1, 1, 2)
    assert (right.mask, left.mask) == (0b0011 if coalesced else 0b0111, 0b1100)
    decision = CoalescingArbiter(4, 4, Alignment.REG, PATHS).decide((None, None, None), [right, left])
    assert set(decision.reads) == ({right, left} if coalesced else {right})
    assert decision.bank_conflicts == (0 if coalesced else 1)


def test_000_section_3_6_2_6() -> None:
    """Two reads of one collector, masks 0011 of bank 0 and 1100 of bank 1, arrive in one cycle; a left one of 1110 in
    place of the latter waits for the collector's port."""
    right, left, wide = Read(0, 0, 0, 2), Read(1, 1, 0, 2), Read(1, 1, 0, 3)
    for other, together in ((left, True), (wide, False)):
        decision = CoalescingArbiter(4, 4, Alignment.REG, PATHS).decide((None, None, None), [right, other])
        assert set(decision.reads) == ({right, other} if together else {right})
        assert (decision.bank_conflicts, decision.port_conflicts) == (0, 0 if together else 1)


@pytest.mark.parametrize(("right", "left", "slices"), [
    (Read(0, 0, 0, 1), Read(0, 1, 1, 2), {0: {0: 0}, 1: {2: 0, 3: 0}}),
    (Read(0, 0, 0, 2), Read(1, 1, 0, 2), {0: {0: 0, 1: 0, 2: 1, 3: 1}}),
    (Read(0, 0, 0, 1), Read(1, 1, 0, 2), {0: {0: 0, 2: 1, 3: 1}}),
], ids=["one bank, two collectors", "two banks, one collector", "Fig. 3.19"])
def test_000_fig_3_18b(right: Read, left: Read, slices: dict[int, dict[int, int]]) -> None:
    """Section 3.6.2.6, and 3.6.2.7 with Fig. 3.19: the bank from which each slice of a collector comes. Masks are 0001
    and 1100, 0011 and 1100, 0001 and 1100."""
    decision = CoalescingArbiter(4, 4, Alignment.REG, PATHS).decide((None, None, None), [right, left])
    assert set(decision.reads) == {right, left}
    grants = [[sum(1 << read.collector for read in decision.reads if read.bank == bank and read.mask >> k & 1)
               for bank in range(4)] for k in range(4)]
    words = [int.from_bytes(bytes([bank + 1]) * (WARP_BITS // 8)) for bank in range(4)]
    routed = [word.to_bytes(WARP_BITS // 8, "little")[::32] for word in SlicedCrossbar(4, 4).route(words, grants)]
    found = {collector: {k: byte - 1 for k, byte in enumerate(word) if byte} for collector, word in enumerate(routed)}
    assert {collector: banks for collector, banks in found.items() if banks} == slices


@pytest.mark.parametrize(("values", "mask", "sign"), [
    ((0x0000_0000, 0x0000_00FF), 0b0001, 0), ((0xFFFF_FFFF, 0xFFFF_FF00), 0b0001, 1),
    ((0x0000_0001, 0x0000_FFFF), 0b0011, 0), ((0xFFFF_0000, 0xFFFF_FFFE), 0b0011, 1),
    ((0x0000_0001, 0x0080_0000), 0b0111, 0), ((0xFF00_0000, 0xFFFF_FFFE), 0b0111, 1),
    ((0x0000_0001, 0x0100_0000), 0b1111, 0), ((0x8000_0000, 0xFFFF_FFFE), 0b1111, 1),
    ((0x0000_0001, 0xFFFF_FFFF), 0b1111, 1),
])
def test_000_fig_3_20(values: tuple[int, int], mask: int, sign: int) -> None:
    """Upper bytes that are all zeros, or all ones, are not stored: the mask of the sub-banks is saved in two bits,
    0001 as 00, 0011 as 01, 0111 as 10, 1111 as 11, beside the sign. The sign is no part of the stored bytes: 0xFFFF has
    two. Signs that differ, last line, need all bytes."""
    encoding = Encoding(*detect(join([values[lane % 2] for lane in range(32)]), ALL_LANES), left=False)
    assert (encoding.mask, encoding.sign) == (mask, sign)
    size = {0b0001: 0b00, 0b0011: 0b01, 0b0111: 0b10, 0b1111: 0b11}[mask]
    assert encoding.fields == {"size": size, "sign": sign, "left": 0}
    assert [width for name, width in ENCODING_FIELDS if name in ("size", "sign")] == [2, 1]


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


def test_000_fig_4_6() -> None:
    """One lane, gated by its bit of the active mask and by the zero masks of its operands. Lane 0 computes 6 * 7; lane
    1 is inactive; in lanes 2 and 3 one operand of the product is zero, and so is the result; the sum of 0 and 9 in lane
    4 is the operand that is not zero."""
    lanes, none = 0b11101, 0
    a, b = join([6, 6, 0, 5, 0, *[0] * 27]), join([7, 7, 3, 0, 9, *[0] * 27])
    fields = {"pipe": 0, "modifiers": 0, "lanes": lanes, "pred": 0, "operands": (a, b, 0)}
    known = (ALL_LANES ^ nonzero_lanes(a), ALL_LANES ^ nonzero_lanes(b), none)
    product, total = (outcomes({**fields, "op": op}, known) for op in (Op.IMUL, Op.IADD))
    assert product == Outcomes(zero=0b11100)
    assert total == Outcomes(zero=0, a=0b01000, b=0b10100)
    for op, found in ((Op.IMUL, product), (Op.IADD, total)):
        computed = split(evaluate({**fields, "op": op})[0])
        for lane in range(5):
            taken = {found.zero: 0, found.a: split(a)[lane], found.b: split(b)[lane]}
            selected = [value for mask, value in taken.items() if mask >> lane & 1]
            assert not selected or selected == [computed[lane]]
    meter = LaneMeter()
    meter.dispatch(0, {**fields, "op": Op.IMUL}, (1, 4, 0), 3)
    assert (meter.operations, meter.inactive, meter.trivial) == (32, 28, 3)


@pytest.mark.parametrize(("window", "sources", "forwarded"), [
    (2, [1, 1, 1], [1, 2]), (2, [1, 8, 1], []), (3, [1, 8, 1], [2]), (3, [1, 8, 9, 1], []),
    (3, [1, 8, 1, 9, 1], [2, 4]), (3, [1, 8, 1, 9, 10, 1], [2]),
], ids=["three in a row", "out of two", "in three", "out of three", "extended", "extended once"])
def test_001_section_4_windows(window: int, sources: list[int], forwarded: list[int]) -> None:
    """Sections III and IV-A: the window slides, so each use of R1 keeps it for as many instructions as the window has,
    and three in a row share a value even in a window of two (*extended instruction window*). By number, the
    instructions that find their source in the collector; the trace alone and the collectors agree. Pauses after each
    instruction let entries leave in time."""
    trace = trace_of([part for place, source in enumerate(sources)
                      for part in (add(20 + place, source), *[Instruction(op=Op.NOP)] * 2)])
    sm = Sm(SmConfig.preset("small").with_settings(["bypass=bow", f"window={window}"]), trace, check=True)
    found, before = [], 0
    sm.step()
    while not sm.finished:
        taken = [fields["dst"] - 20 for fields in sm.inputs.issue if fields is not None]
        sm.step()
        if sm.datapath.counts.forwarded > before:
            before = sm.datapath.counts.forwarded
            found += taken
    assert found == forwarded
    assert reuse(trace).bypassed[WINDOWS.index(window)] == len(forwarded)


def test_001_table_2() -> None:
    """One SM of Table II, and section II. The number of SMs and the L2 cache are outside the SM."""
    config = SmConfig.preset("pascal")
    cores = sum(pipe.lanes for pipe in config.pipes if pipe.kind is Pipe.SP)
    assert (cores, config.blocks, config.warps, config.warps * LANES) == (128, 16, 32, 1024)
    assert config.banks * config.rows * WARP_BITS // 8 == 256 * 1024
    assert config.l1_sets * config.l1_ways * config.line_bytes == 48 * 1024 and config.shared_bytes == 96 * 1024
    assert config.scheduler is Scheduler.GTO and config.schedulers == config.issue_ports == 4
    assert (config.banks, config.rows, config.collectors) == (32, 64, 32)


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
    execution = run(load(Path(__file__).parents[1] / "ptx" / f"threshold_{above}.toml"), ABM).execution
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
