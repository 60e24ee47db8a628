"""CORF and CORF++: the requests that they coalesce, the locations of registers, and that no value is lost."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Instruction, Op
from warploom.arch.program import Hints
from warploom.compiler.compile import compile_file
from warploom.golden_model.check import Mismatch
from warploom.golden_model.corf import width
from warploom.golden_model.corf.allocation import NOWHERE, Allocator, Location
from warploom.golden_model.corf.register_file import CorfFile
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import ALL_LANES, join, split
from warploom.kernels.library import kernel, kernels

CORF = SmConfig(layout="wid", coalescing="corf")
PLUS = SmConfig(layout="wid", coalescing="corf_plus")
TWO_SP = SmConfig.preset("fermi").with_settings(["layout=wid", "coalescing=corf_plus"])
PAIR, APART, NONE = Hints(pairs=((2, 3),)), Hints(left=frozenset({3})), Hints()
ADD = Instruction(op=Op.IADD, dst=1, src=(2, 3, 255))
DEPENDENT = Instruction(op=Op.MOV, dst=4, src=(1, 255, 255))
HALF = 0xFFFF


def move(register: int, value: int) -> Instruction:
    return Instruction(op=Op.MOV, dst=register, imm_slot=0, imm=value & 0xFFFFFFFF)


def hinted(trace: Trace, hints: Hints) -> Trace:
    return replace(trace, program=replace(trace.program, hints=hints))


def corf_file(sm: Sm) -> CorfFile:
    """The register file of an SM with CORF."""
    assert isinstance(sm.datapath.register_file, CorfFile)
    return sm.datapath.register_file


class Watched:
    """A run with `check`: cycles of issue, of grants and of completions, and the register file at the end."""

    def __init__(self, config: SmConfig, code: Sequence[Instruction], hints: Hints, *, warps: int = 1,
                 lanes: Sequence[int] | None = None) -> None:
        self.issued: list[int] = []
        self.granted: list[list[int]] = []  # registers read, by cycle with any
        self.done: list[tuple[int, int]] = []  # cycle, warp
        self.queued = 0  # results that waited for the latch of SP, at most
        sm = Sm(config, hinted(trace_of(code, warps=warps, lanes=lanes), hints), check=True)
        while True:
            sm.step()
            self.queued = max(self.queued, sm.datapath.queues.lengths[0])
            if sm.cycle and sm.datapath.operands.granted:  # of the previous cycle
                self.granted.append([register for _, register in sm.datapath.operands.granted])
            if sm.finished:
                break
            if sm.inputs.issue:
                self.issued.append(sm.cycle)
            self.done += [(sm.cycle, sm.flight(done["tag"]).warp.slot) for done in sm.datapath.done if done]
        self.register_file = corf_file(sm)

    @property
    def distance(self) -> int:
        """Cycles from the issue of the second-last instruction to that of the last."""
        return self.issued[-1] - self.issued[-2]


# ---------------------------------------------------------------------- widths


def needed(value: int) -> int:
    """Bytes of a 32-bit value in two's complement, with its sign bit."""
    signed = value - (value >> 31 << 32)
    return next(n for n in (1, 2, 3, 4) if -(1 << 8 * n - 1) <= signed < 1 << 8 * n - 1)


@pytest.mark.parametrize(("value", "bytes_needed"), [
    (0, 1), (0x7F, 1), (0x80, 2), (0x7FFF, 2), (0x8000, 3), (0x7FFFFF, 3), (0x800000, 4), (0x7FFFFFFF, 4),
    (-1, 1), (-0x80, 1), (-0x81, 2), (-0x8000, 2), (-0x8001, 3), (-0x800000, 3), (-0x800001, 4),
])
def test_the_sign_bit_is_among_the_stored_bytes(value: int, bytes_needed: int) -> None:
    """[RADAIDEH], section 3.6.2.8: one more byte if the top bit of the bytes in use is not the sign."""
    word = value & 0xFFFFFFFF
    assert needed(word) == width.detect(word << 32 * 5, 1 << 5) == bytes_needed


def test_widths_of_mixed_lanes() -> None:
    """The widest executing lane decides, for all signs; the others are restored from the stored bytes."""
    rng = random.Random(1)
    for _ in range(300):
        values = [rng.getrandbits(32) & rng.choice([0x7F, 0xFF, 0xFFFF, 0x7FFFFF]) ^ rng.choice([0, 0xFFFFFFFF])
                  for _ in range(32)]
        lanes = rng.getrandbits(32) | 1
        found = width.detect(join(values), lanes)
        assert found == max(needed(value) for lane, value in enumerate(values) if lanes >> lane & 1)
        kept = join(value & (1 << 8 * found) - 1 | rng.getrandbits(32) << 8 * found & 0xFFFFFFFF for value in values)
        extended = split(width.extend(kept, found))
        assert all(extended[lane] == value for lane, value in enumerate(values) if lanes >> lane & 1)
    assert width.extend((1 << 1024) - 1, 0) == 0


# ---------------------------------------------------------------------- coalescing


@pytest.mark.parametrize(("first", "second", "hints", "corf", "plus"), [
    (5, 6, PAIR, True, True),  # packed in one entry
    (5, 6, APART, False, True),  # across two entries
    (5, 6, NONE, False, False),  # two entries, both on the right
    (0x1234, 0x567, PAIR, True, True),
    (0x7FFFFF, 5, PAIR, True, True),
    (-1, 0x7FFFFF, PAIR, True, True),
    (0x800000, 5, PAIR, False, False),  # no free bit for the sign
    (0x80, 0x7FFFFF, PAIR, False, False),
    (0x80, 0x7FFFFF, APART, False, False),
    (0x7FFF, 0x7FFF, APART, False, True),
])
@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
def test_two_reads_of_one_instruction(  # noqa: PLR0917 - a table
    first: int, second: int, hints: Hints, corf: bool, plus: bool, swapped: bool
) -> None:
    """[RADAIDEH], Table 3.2, first row. Coalesced, the dependent instruction issues 9 cycles later, otherwise 10
    (docs/contract/README.md)."""
    order = [move(3, second), move(2, first)] if swapped else [move(2, first), move(3, second)]
    for config, coalesced in ((CORF, corf), (PLUS, plus)):
        run = Watched(config, [*order, ADD, DEPENDENT], hints)
        assert run.distance == (9 if coalesced else 10)
        assert run.granted[: 2 - coalesced] == ([[2, 3]] if coalesced else [[2], [3]])
        assert run.register_file.storage.packs == (corf and hints is PAIR)
        assert run.register_file.traffic().coalesced["read_read"] == coalesced


@pytest.mark.parametrize(("hints", "config", "granted"), [
    (Hints(pairs=((3, 4),)), CORF, [[2], [3, 4]]),
    (Hints(pairs=((2, 4),)), CORF, [[2, 4], [3]]),
    (Hints(left=frozenset({3})), PLUS, [[2, 3], [4]]),
    (Hints(left=frozenset({4})), PLUS, [[2, 4], [3]]),
    (Hints(((2, 4),), frozenset({4})), PLUS, [[2, 4], [3]]),
])
def test_two_of_three_operands(hints: Hints, config: SmConfig, granted: list[list[int]]) -> None:
    code = [move(2, 1), move(3, 2), move(4, 3), Instruction(op=Op.IMAD, dst=1, src=(2, 3, 4))]
    assert Watched(config, code, hints).granted == granted


def test_a_repeated_operand_comes_with_both() -> None:
    code = [move(2, 1), move(3, 2), Instruction(op=Op.IMAD, dst=1, src=(2, 3, 2))]
    assert Watched(CORF, code, PAIR).granted == [[2, 3]]


def test_nothing_else_is_coalesced() -> None:
    """[RADAIDEH], Table 3.2, rows two to four: a bank serves one instruction or one write a cycle."""
    file = kernel("bfs").load("tiny")
    trace, small = execute(compile_file(file.ptx), file.launch).trace, SmConfig.preset("small")
    sm, seen = Sm(small.with_settings(["layout=wid", "coalescing=corf_plus"]), trace), Counter()
    while True:
        sm.step()
        if sm.finished:
            break
        register_file = corf_file(sm)
        writes = [write.bank for write in register_file.writes()]
        reads = [bank for bank, _ in register_file.decision.reads]
        assert len({*reads, *writes}) == len(reads) + len(writes)
        seen["both"] += bool(reads and writes)
        seen["reads"] += len(reads)
        seen["writes"] += len(writes)
    coalesced = sm.datapath.register_file.traffic().coalesced
    ours = simulate(small.with_settings(["layout=wid", "coalescing=on"]), trace).statistics.coalesced
    assert coalesced["read_read"] > 100 and coalesced["write_write"] == coalesced["read_write"] == 0
    assert ours["read_write"] > 0 and min(seen.values()) > 100


@pytest.mark.parametrize("flavour", ["corf", "corf_plus"])
def test_operands_in_different_banks_are_out_of_reach(flavour: str) -> None:
    """[RADAIDEH], Table 3.2, last row: all registers of a warp must be in one bank."""
    with pytest.raises(ConfigError, match="CORF needs all registers of a warp in one bank"):
        SmConfig(layout="wshift", coalescing=flavour)


# ---------------------------------------------------------------------- partial writes


def test_a_partial_write_that_fits_stays() -> None:
    """One access, 7 cycles from issue to issue; a narrower value does not reduce the width."""
    reader = Instruction(op=Op.MOV, dst=5, src=(2, 255, 255))
    code = [move(2, 0x1234), move(3, 1), move(2, 7), reader]
    run = Watched(CORF, code, PAIR, lanes=[ALL_LANES, ALL_LANES, HALF, ALL_LANES])
    assert run.distance == 7
    assert (run.register_file.copies, run.register_file.storage.packs, run.register_file.storage.unpacks) == (0, 1, 0)
    assert run.register_file.traffic().bank_accesses == 5


@pytest.mark.parametrize(("value", "unpacks"), [(0x1234, 0), (0x12345678, 1)])
def test_a_partial_write_that_grows_reads_first(value: int, unpacks: int) -> None:
    """One more access, and two cycles later: 9 from issue to issue. It leaves its partner if necessary."""
    reader = Instruction(op=Op.MOV, dst=5, src=(2, 255, 255))
    code = [move(2, -9), move(3, 1), move(2, value), reader]
    for config in (CORF, PLUS):
        run = Watched(config, code, PAIR, lanes=[ALL_LANES, ALL_LANES, HALF, ALL_LANES])
        assert run.distance == 9
        file = run.register_file
        assert (file.copies, file.storage.packs, file.storage.unpacks) == (1, 1, unpacks)
        assert run.register_file.traffic().bank_accesses == 6


def test_results_queue_up_behind_one_that_reads_first() -> None:
    """Of two warps with results in consecutive cycles, both growing: three cycles each."""
    run = Watched(CORF, [move(2, 5), move(2, 0x1234)], NONE, warps=2, lanes=[ALL_LANES, HALF])
    (first, warp), (second, other) = run.done[-2:]
    assert {warp, other} == {0, 1} and second - first == 3
    assert run.queued == 1 and run.register_file.copies == 2


# ---------------------------------------------------------------------- allocation


def test_packing_and_its_end() -> None:
    bank = Allocator(8)
    first = bank.choose(2, False, NOWHERE, NOWHERE)
    assert first == Location(0, 0b0011)
    bank.move(NOWHERE, first)
    second = bank.choose(1, False, NOWHERE, first)
    assert second == Location(0, 0b1000)  # beside its partner, regardless of the hint
    bank.move(NOWHERE, second)
    wider = bank.choose(2, False, second, first)
    assert wider == Location(0, 0b1100)  # its own byte does not conflict
    away = bank.choose(3, True, second, first)
    assert away == Location(1, 0b1110)
    bank.move(second, away)
    assert bank.used[:3] == [0b0011, 0b1110, 0]
    assert bank.choose(1, False, away, first) == Location(0, 0b1000)  # and back
    assert bank.choose(3, False, away, first) == Location(1, 0b0111)  # alone it follows the hint
    assert bank.choose(4, True, away, first) == Location(1, 0b1111)


def test_no_free_entry() -> None:
    bank = Allocator(1)
    bank.move(NOWHERE, Location(0, 0b0001))
    with pytest.raises(IndexError, match="no entry is free"):
        bank.choose(1, False, NOWHERE, NOWHERE)


def test_a_register_of_full_width_is_on_the_right() -> None:
    """As one that is not stored."""
    masks = (0, 0b0001, 0b0111, 0b1000, 0b1110, 0b1111)
    assert [mask for mask in masks if Location(0, mask).left] == [0b1000, 0b1110]


@pytest.mark.parametrize("seed", range(5))
def test_registers_never_meet(seed: int) -> None:
    """After any writes, the sub-banks in use are those of the registers, each of one register; only partners share."""
    rng, bank, seen = random.Random(seed), Allocator(8), Counter()
    partner = [1, 0, 3, 2, 5, 4, None, None]
    at = [NOWHERE] * 8
    for _ in range(2000):
        register, size = rng.randrange(8), rng.randint(1, 4)
        beside = partner[register]
        to = bank.choose(size, rng.random() < 0.5, at[register], NOWHERE if beside is None else at[beside])
        assert to.width == size
        seen["stays"] += at[register].mask != 0 and to.row == at[register].row
        bank.move(at[register], to)
        at[register] = to
        used = [0] * 8
        for number, location in enumerate(at):
            assert not used[location.row] & location.mask
            used[location.row] |= location.mask
            sharing = [n for n, other in enumerate(at) if n != number and other.mask and other.row == location.row]
            assert not location.mask or sharing in ([], [partner[number]])
            seen["packed"] += bool(sharing)
        assert used == bank.used
        if beside is not None and at[beside].mask and size + at[beside].width <= 4:
            assert to.row == at[beside].row
    assert min(seen.values()) > 200


# ---------------------------------------------------------------------- whole programs

RANDOM_HINTS = [NONE, Hints(((0, 1), (2, 5), (3, 4)), frozenset({1, 3, 6})), Hints(((1, 7),), frozenset(range(4)))]


@pytest.mark.sample(4)
@pytest.mark.parametrize("config", [CORF, PLUS, TWO_SP], ids=["corf", "plus", "two sp"])
@pytest.mark.parametrize("hints", RANDOM_HINTS)
def test_operands_are_those_of_the_trace(config: SmConfig, hints: Hints) -> None:
    """Random programs, many instructions partly masked; skipping quiet cycles changes nothing."""
    for seed in range(4):
        trace = hinted(random_trace(seed), hints)
        run = simulate(config, trace, check=True)
        assert run.sm.checker is not None and run.sm.checker.checked > 3 * run.statistics.datapath_instructions
        assert corf_file(run.sm).copies > 0
        sm = Sm(config, trace)
        while not sm.finished:
            sm.step()
        assert collect(sm) == run.statistics


def narrow_trace(seed: int, length: int = 60) -> Trace:
    """A program of narrow values that grow and shrink, in all lanes or some; it reads up to three registers at once."""
    rng = random.Random(seed)
    code, lanes = [move(register, register) for register in range(8)], [ALL_LANES] * 8
    for _ in range(length):
        a, b, c, dst = (rng.randrange(8) for _ in range(4))
        write = move(dst, rng.randrange(-1 << 31, 1 << 31) >> rng.choice([0, 8, 16, 24, 28]))
        code += [write, Instruction(op=rng.choice([Op.IMAX, Op.IMIN]), dst=c, src=(a, b, 255), signed=True),
                 Instruction(op=Op.SHF, dst=a, src=(b, c, a), right=True, signed=True)]
        lanes += [rng.choice([ALL_LANES, ALL_LANES, rng.getrandbits(32)]) for _ in range(3)]
    return trace_of(code, warps=8, per_block=4, lanes=lanes)


@pytest.mark.parametrize("config", [CORF, PLUS], ids=["corf", "plus"])
def test_narrow_values_are_never_lost(config: SmConfig) -> None:
    seen = Counter()
    for seed in range(6):
        run = simulate(config, hinted(narrow_trace(seed), RANDOM_HINTS[1 + seed % 2]), check=True)
        register_file = corf_file(run.sm)
        storage = register_file.storage
        seen += Counter(packs=storage.packs, unpacks=storage.unpacks, copies=register_file.copies,
                        coalesced=run.statistics.coalesced["read_read"])
    assert len(seen) == 4 and min(seen.values()) > 100


def test_the_checker_sees_a_forgotten_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CorfFile, "_grows", lambda self, result: False)
    with pytest.raises(Mismatch, match="operand"):
        simulate(CORF, narrow_trace(1), check=True)


@pytest.mark.sample(3)
@pytest.mark.parametrize("flavour", ["corf", "corf_plus"])
@pytest.mark.parametrize("name", [
    pytest.param(k.name, marks=[] if k.name in ("bfs", "hotspot", "matmul") else pytest.mark.long) for k in kernels()
])
def test_bundled_kernels(name: str, flavour: str) -> None:
    """Every operand equals that of the trace; both save accesses, CORF++ at least as many as CORF."""
    file = kernel(name).load("tiny")
    trace = execute(compile_file(file.ptx), file.launch).trace
    small = SmConfig.preset("small").with_settings(["layout=wid"])
    run = simulate(small.with_settings([f"coalescing={flavour}"]), trace, check=True)
    stats, before = run.statistics, simulate(small, trace).statistics
    assert stats.bank_requests == sum(stats.bank_reads) + sum(stats.bank_writes)
    assert stats.bank_requests == before.bank_requests + corf_file(run.sm).copies
    assert stats.bank_accesses == stats.bank_requests - stats.coalesced["read_read"] < before.bank_accesses
    assert stats.operands_stored == before.operands_stored
    assert stats.collector_writes == stats.operands_stored - stats.coalesced["read_read"]
