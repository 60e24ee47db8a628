"""The datapath with the coalescing register file: each rule of docs/contract/, then whole kernels."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES
from warploom.arch.isa import Instruction, Op
from warploom.arch.layout import address
from warploom.arch.mechanisms import Alignment
from warploom.compiler.compile import compile_file
from warploom.golden_model.check import Mismatch
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.observation import shown_by
from warploom.golden_model.register_file import width
from warploom.golden_model.register_file.forms import Narrow
from warploom.golden_model.register_file.ports import Write
from warploom.golden_model.register_file.sides import WarpSides
from warploom.golden_model.register_file.width import Encoding, restore
from warploom.golden_model.register_file.writeback import Writeback
from warploom.golden_model.simulate import Run, simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import ALL_LANES, broadcast, merge, spread
from warploom.kernels.library import kernel, kernels

HALF = ALL_LANES >> 16
HARDWARE = (Alignment.REG, Alignment.WRITE)
LAYOUTS = ("wid", "wshift")


def config(alignment: str = "reg", layout: str = "wid", preset: str = "small") -> SmConfig:
    """A preset with the coalescing register file."""
    return SmConfig.preset(preset).with_settings(["coalescing=on", f"alignment={alignment}", f"layout={layout}"])


def mov(register: int, value: int) -> Instruction:
    return Instruction(op=Op.MOV, dst=register, imm_slot=0, imm=value & 0xFFFFFFFF)


def add(register: int, *sources: int) -> Instruction:
    return Instruction(op=Op.IMAD, dst=register, src=(*sources, 255, 255)[:3])


def cycles(sm: Sm) -> Iterator[Datapath]:
    """The datapath in every cycle of a run that is not quiet."""
    while True:
        sm.step()
        if sm.finished:
            return
        yield sm.datapath
        sm.skip()


def run(trace: Trace, config: SmConfig) -> tuple[Sm, list[Write], list[Encoding]]:
    """The SM after a run with every operand checked, its register writes, and the final encodings."""
    sm, writes, codes = Sm(config, trace, check=True), [], []
    for datapath in cycles(sm):
        for write in datapath.writes():
            writes.append(write)
            codes.append(next(written.metadata for _, latch, written in datapath.register_file._writing
                              if latch["tag"] == write.tag))
    return sm, writes, codes


# ---------------------------------------------------------------------- writing


@pytest.mark.parametrize("value", [5, -5, 0x80, 0x1234, -0x1234, 0x123456, 0x7FFFFFFF, -0x80000000])
@pytest.mark.parametrize("alignment", list(Alignment))
def test_a_full_write_stores_as_many_bytes_as_the_value_has(alignment: Alignment, value: int) -> None:
    width = max(1, -(-(value ^ value >> 31).bit_length() // 8))
    _, (write, _), (code, _) = run(trace_of([mov(2, value), add(3, 2, 2)]), config(alignment))
    assert (code.width, code.sign) == (width, value < 0)
    assert write.byte_mask == broadcast((1 << 8 * width) - 1) and not write.data & ~write.byte_mask


@pytest.mark.parametrize("alignment", list(Alignment))
def test_bytes_that_are_not_stored_come_from_the_sign(alignment: Alignment, monkeypatch: pytest.MonkeyPatch) -> None:
    """The upper bytes of an earlier, wider value are still in the row; an operand path that uses them is detected."""
    trace = trace_of([mov(2, 0x12345678), mov(2, -7), add(3, 2, 2)])
    sm, _, _ = run(trace, config(alignment))
    assert sm.checker is not None and sm.checker.checked > 0
    monkeypatch.setattr(width, "restore", lambda word, code: word)
    with pytest.raises(Mismatch, match="operand 0 of IMAD"):
        run(trace, config(alignment))


@pytest.mark.parametrize("alignment", list(Alignment))
def test_a_partial_write_fills_the_other_lanes_as_far_as_it_is_wider(alignment: Alignment) -> None:
    code = [mov(2, 0x12345678), mov(2, 5), mov(2, 0x1234), add(3, 2, 2)]
    trace = trace_of(code, lanes=[ALL_LANES, ALL_LANES, HALF, ALL_LANES])
    _, (_, _, write, _), (_, full, partial, _) = run(trace, config(alignment))
    assert (full.width, partial.width, partial.sign) == (1, 2, 0)
    assert write.byte_mask == spread(HALF) & broadcast(0xFFFF) | spread(ALL_LANES & ~HALF) & broadcast(0xFF00)
    assert write.data == spread(HALF) & broadcast(0x1234)


@pytest.mark.parametrize("alignment", list(Alignment))
def test_a_partial_write_keeps_what_is_wider_and_takes_all_bytes_for_another_sign(alignment: Alignment) -> None:
    trace = trace_of([mov(2, 0x1234), mov(2, 5), mov(2, -3), add(3, 2, 2)], lanes=[ALL_LANES, HALF, HALF, ALL_LANES])
    _, (_, narrow, negative, _), (_, kept, mixed, _) = run(trace, config(alignment))
    assert kept[:2] == (2, 0) and narrow.byte_mask == spread(HALF) & broadcast(0xFFFF)
    assert mixed[:2] == (4, 1) and negative.data == spread(HALF) & broadcast(-3 & 0xFFFFFFFF)
    assert negative.byte_mask == spread(HALF) | spread(ALL_LANES & ~HALF) & broadcast(0xFFFF0000)


def test_the_side_is_that_of_the_register_number() -> None:
    _, writes, codes = run(trace_of([mov(2, 1), mov(3, 1), mov(2, 1), mov(3, 1)]), config("reg"))
    assert [code.left for code in codes] == [write.left for write in writes] == [False, True, False, True]


def test_the_full_writes_of_a_warp_take_sides_in_turn() -> None:
    """Partial writes stay on the register's present side."""
    registers, lanes = [2, 3, 2, 3, 2, 4], [ALL_LANES, ALL_LANES, HALF, HALF, ALL_LANES, ALL_LANES]
    _, writes, codes = run(trace_of([mov(register, 1) for register in registers], lanes=lanes), config("write"))
    assert [code.left for code in codes] == [write.left for write in writes] == [False, True, False, True, False, True]


def test_each_warp_has_a_side_of_its_own() -> None:
    sides = WarpSides()
    assert [sides.take(warp) for warp in (0, 1, 1, 0, 0, 1)] == [False, False, True, True, False, False]


def test_a_full_result_that_is_not_written_takes_a_side() -> None:
    """A partial one takes none, and other warps keep theirs."""
    form = Narrow(config("write"))
    writeback: Writeback[object] = Writeback(["sp"], form, lambda result, written: written)
    writeback.unwritten = 1
    for full in (1, 1, 0, 1):
        result: Any = {"writes": 1, "full": full, "warp": 3}
        writeback.enter(0, result)
        writeback.leave([True])
    assert form.sides is not None
    assert [form.sides.take(warp) for warp in (3, 2)] == [True, False]


def test_a_write_of_all_live_lanes_is_full() -> None:
    trace = trace_of([Instruction(op=Op.EXIT), mov(3, 1), mov(3, 1), mov(3, 1)],
                     lanes=[HALF, ALL_LANES & ~HALF, 1 << 31, ALL_LANES & ~HALF])
    assert [code.left for code in run(trace, config("write"))[2]] == [False, False, True]


# ---------------------------------------------------------------------- sharing


def traffic_of(second: int, values: tuple[int, int], *settings: str) -> tuple[dict[str, int], int, int]:
    """(pairs of coalesced accesses, collector writes, cycles from issue to dispatch) of an instruction that reads R2
    and a second register, with these values."""
    trace = trace_of([mov(2, values[0]), mov(second, values[1]), add(7, 2, second)])
    sm, issued, waited = Sm(config(*settings), trace, check=True), 0, 0
    for datapath in cycles(sm):
        if sm.inputs.issue:
            issued = sm.cycle
        if datapath.dispatch[0] is not None:
            waited = sm.cycle - issued
    return datapath.register_file.traffic().coalesced, datapath.register_file.traffic().collector_writes, waited


@pytest.mark.parametrize(("alignment", "second", "values", "together"), [
    ("reg", 3, (5, 5), True), ("reg", 3, (0x1234, -0x1234), True), ("reg", 3, (0x123456, 5), True),
    ("reg", 3, (0x123456, 0x1234), False), ("reg", 3, (0x12345678, 5), False), ("reg", 4, (5, 5), False),
    ("write", 3, (5, 5), True), ("write", 4, (5, 5), True), ("write", 4, (0x123456, 0x1234), False),
    ("ideal", 4, (0x1234, 0x1234), True), ("ideal", 4, (0x123456, 0x1234), False),
    ("upper_bound", 4, (0x12345678, -0x12345678), True),
])
def test_two_operands_of_one_bank_in_one_cycle(
    alignment: str, second: int, values: tuple[int, int], together: bool
) -> None:
    """With `write` two registers that are written one after the other are on opposite sides, for all their numbers."""
    pairs, collector_writes, waited = traffic_of(second, values, alignment)
    assert pairs == {"read_read": int(together), "write_write": 0, "read_write": 0}
    assert (collector_writes, waited) == ((1, 3) if together else (2, 4))


def test_operands_of_two_banks_share_a_collector_write_where_their_slices_do_not_meet() -> None:
    """R2 and R3 are in different banks: no bank access is shared, the collector's port is."""
    assert traffic_of(3, (5, 5), "reg", "wshift") == ({"read_read": 0, "write_write": 0, "read_write": 0}, 1, 3)
    assert traffic_of(3, (0x123456, 0x1234), "reg", "wshift")[1:] == (2, 4)


def test_the_bounds_enable_no_more_sub_banks_than_there_are() -> None:
    trace = trace_of([mov(2, 0x12345678), mov(4, 0x123456), add(7, 2, 4)])
    traffic = simulate(config("upper_bound"), trace).sm.datapath.register_file.traffic()
    assert (traffic.sub_bank_reads, traffic.slice_writes, traffic.operands_stored) == (4, 4, 2)


@pytest.mark.parametrize("alignment", list(Alignment))
def test_slots_that_name_one_register_share_its_request(alignment: Alignment) -> None:
    sm, _, _ = run(trace_of([mov(2, -5), add(3, 2, 2, 2)]), config(alignment))
    traffic = sm.datapath.register_file.traffic()
    assert (traffic.operands_stored, traffic.collector_writes, traffic.sub_bank_reads) == (1, 1, 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("alignment", HARDWARE)
def test_no_sub_bank_and_no_slice_serves_two(alignment: Alignment, layout: str) -> None:
    """The sums of the probe over all cycles equal the statistics."""
    settings = config(alignment, layout)
    sm, counted = Sm(settings, random_trace(4, length=200), check=True), Counted()
    for datapath in cycles(sm):
        counted.cycle(shown_by(datapath), settings.banks)
    traffic = collect(sm)
    assert counted.pairs == traffic.coalesced and min(counted.pairs["read_read"], counted.pairs["read_write"]) > 0
    for name in ("bank_accesses", "collector_writes", "sub_bank_reads", "sub_bank_writes", "slice_writes"):
        assert getattr(counted, name) == getattr(traffic, name) > 100, name


class Counted:
    """Bank accesses and collector writes by the probe."""

    def __init__(self) -> None:
        self.pairs = {"read_read": 0, "write_write": 0, "read_write": 0}
        self.bank_accesses = self.collector_writes = self.slice_writes = 0
        self.sub_bank_reads = self.sub_bank_writes = 0

    def cycle(self, probe: dict[str, int], banks: int) -> None:
        """Add a cycle, in which no two requests may overlap."""
        slices: dict[int, int] = {}
        for bank in range(banks):
            kinds, sub_banks = [], 0
            for side in SIDES:
                enable, write, who, mask = (probe[f"bank{bank}_{side}_{name}"]
                                            for name in ("enable", "write", "who", "mask"))
                assert not sub_banks & mask and enable == (mask > 0)
                sub_banks |= mask
                if enable:
                    kinds.append("write" if write else "read")
                    setattr(self, f"sub_bank_{kinds[-1]}s", getattr(self, f"sub_bank_{kinds[-1]}s") + mask.bit_count())
                if enable and not write:
                    assert not slices.get(who, 0) & mask
                    slices[who] = slices.get(who, 0) | mask
            self.bank_accesses += bool(kinds)
            if len(kinds) == 2:
                self.pairs["_".join(sorted(kinds))] += 1
        self.collector_writes += len(slices)
        self.slice_writes += sum(mask.bit_count() for mask in slices.values())


def test_writes_of_two_pipes_share_an_access() -> None:
    """In random streams SP and MEM sometimes write to one bank in one cycle."""
    pairs = [simulate(config(alignment, "wshift"), random_trace(seed, length=200)).statistics.coalesced
             for alignment in HARDWARE for seed in range(4)]
    assert sum(pair["write_write"] for pair in pairs) > 0


@pytest.mark.parametrize("alignment", list(Alignment))
def test_skipping_quiet_cycles_changes_nothing(alignment: Alignment) -> None:
    trace, settings = random_trace(2, warps=4), config(alignment, "wshift")
    sm = Sm(settings, trace)
    while not sm.finished:
        sm.step()
    assert collect(sm) == simulate(settings, trace).statistics


# ---------------------------------------------------------------------- kernels


@cache
def tiny(name: str) -> Trace:
    """A bundled kernel's trace at size tiny."""
    bundled = kernel(name)
    trace = execute(compile_file(bundled.ptx), bundled.load("tiny").launch).trace
    assert trace is not None
    return trace


class Registers:
    """Writes of instructions, by bank and row: the word, and the lanes that the register file still holds."""

    def __init__(self, settings: SmConfig, sm: Sm) -> None:
        self._config, self._sm = settings, sm
        self._words: dict[tuple[int, int], tuple[int, int]] = {}

    def write(self, write: Write, latch_full: int) -> None:
        """A full write moves the register, without lanes that are no longer live."""
        flight = self._sm.flight(write.tag)
        where = address(self._config, self._sm.stride, flight.warp.slot, flight.static.instruction.dst)
        assert where == (write.bank, write.row)
        word, kept = self._words.get(where, (0, 0))
        result = flight.word
        self._words[where] = merge(word, result, write.lanes), write.lanes if latch_full else kept | write.lanes

    def compare(self, datapath: Datapath) -> int:
        """Compare all registers with the contents of the banks; returns their number."""
        for (bank, row), (word, lanes) in self._words.items():
            code = datapath.register_file.form.mask_buffer.read(bank, row, False)
            assert not (restore(datapath.register_file.banks[bank].read(row), code) ^ word) & spread(lanes), (bank, row)
        return len(self._words)


def check_kernel(name: str, settings: SmConfig) -> Sm:
    """Run a kernel with every operand checked; then compare all registers with the trace."""
    sm = Sm(settings, tiny(name), check=True)
    registers = Registers(settings, sm)
    for datapath in cycles(sm):
        full = {latch["tag"]: latch["full"] for latch in datapath.register_file.writeback.latches if latch is not None}
        for write in datapath.writes():
            registers.write(write, full[write.tag])
    assert registers.compare(datapath) > 20 and sm.checker is not None and sm.checker.checked > 1000
    return sm


SOME_KERNELS = ["bfs", "hotspot", "matmul"]
"""Not only for the long regression."""


@pytest.mark.sample(8)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("alignment", list(Alignment))
@pytest.mark.parametrize("name", [
    pytest.param(bundled.name, marks=[] if bundled.name in SOME_KERNELS else pytest.mark.long) for bundled in kernels()
])
def test_registers_are_those_of_the_trace(name: str, alignment: Alignment, layout: str) -> None:
    traffic = check_kernel(name, config(alignment, layout)).datapath.register_file.traffic()
    assert traffic.bank_requests == traffic.bank_accesses + sum(traffic.coalesced.values())
    assert 0 < traffic.collector_writes < traffic.operands_stored < traffic.bank_requests
    assert traffic.slice_writes <= SUB_BANKS * traffic.collector_writes
    assert traffic.sub_bank_reads + traffic.sub_bank_writes <= SUB_BANKS * traffic.bank_accesses


@pytest.mark.parametrize(("name", "alignment", "layout"), [("bfs", "write", "wid"), ("matmul", "reg", "wshift")])
def test_registers_are_those_of_the_trace_on_a_larger_sm(name: str, alignment: str, layout: str) -> None:
    check_kernel(name, config(alignment, layout, "narrow"))


def test_sharing_saves_accesses_and_the_bounds_bound() -> None:
    """For one kernel: none is worse than the baseline, and each step towards the bound coalesces more."""
    runs: dict[str, Run] = {alignment: simulate(config(alignment), tiny("pathfinder")) for alignment in Alignment}
    baseline = simulate(SmConfig.preset("small").with_settings(["layout=wid"]), tiny("pathfinder")).statistics
    accesses = {alignment: result.statistics.bank_accesses for alignment, result in runs.items()}
    assert baseline.bank_accesses == runs["reg"].statistics.bank_requests
    assert accesses["upper_bound"] < accesses["ideal"] < min(accesses["reg"], accesses["write"])
    assert max(accesses["reg"], accesses["write"]) < baseline.bank_accesses
