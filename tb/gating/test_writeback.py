"""Bench of both forms of gated write-back: hardware against `warploom.golden_model.register_file.writeback`."""

import random
from typing import Any

import cocotb
import pytest

from warploom.arch.config import COLUMNS, LANES, SUB_BANKS, SmConfig
from warploom.arch.fields import pack
from warploom.arch.interfaces import WARP_BITS, result_fields, zero_fields
from warploom.golden_model.byte_order import byte_enables, byte_mask, from_sub_banks
from warploom.golden_model.records import Result
from warploom.golden_model.register_file.forms import Packed
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.writeback import Writeback
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Rewrite, Zero
from warploom.golden_model.words import spread
from warploom.tb import runner, sparse
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise
from warploom.tb.coalescing import test_writeback as coalescing
from warploom.tb.coalescing.test_writeback import CoalescingWritebackCheck
from warploom.tb.register_file.test_writeback import WritebackCheck, points, stimuli

CYCLES = 3000
LANE_BYTES = (1 << LANES) - 1


def result(rng: random.Random, config: SmConfig) -> dict[str, int]:
    """A random result; most write a register, often zeros, and over zeros."""
    fields = {name: rng.getrandbits(bits) for name, bits in result_fields(config)} | sparse.old(rng, config)
    lanes = sparse.lanes(rng)
    return fields | {"writes": rng.random() < 0.8, "lanes": lanes, "data": sparse.word(rng, lanes)}


def narrow_result(rng: random.Random, config: SmConfig) -> dict[str, int]:
    """A random result of any width, or one with zeros."""
    return rng.choice((result, _narrow))(rng, config)


def _narrow(rng: random.Random, config: SmConfig) -> dict[str, int]:
    return coalescing.result(rng, config) | sparse.old(rng, config)


def columns_of(enables: int) -> int:
    """The columns in which a byte is written."""
    return sum(bool(enables >> 4 * column & 0xF) << column for column in range(COLUMNS))


def rewrite_of(model: Writeback[Any], writer: int) -> Rewrite:
    """The write in the model's latch of a writer that requests a bank."""
    written = model.written[writer]
    assert written is not None
    metadata, word, byte_mask, columns = written
    return Rewrite(metadata.zero if isinstance(metadata, Packed) else metadata, word, byte_mask, columns)


class ZeroPorts:
    """Checks the zero masks of both forms, by writer and by path."""

    def __init__(self, ports: Ports, checker: Checker) -> None:
        self._config, self._codecs, self._checker = ports.config, ports.codecs, checker

    def masks(self, seen: Observation, model: Writeback[Any]) -> None:
        """The new zero mask of each latch that writes to a bank, zero for the others."""
        for i, actual in enumerate(self._codecs["latches__late"].array(seen["latches__late"])):
            expected = self._pack(rewrite_of(model, i).zero) if model.needs_bank(i) else 0
            self._checker.equal(f"{self._config.writers[i]} zero", actual, expected)

    def updates(self, seen: Observation, written: dict[int, tuple[Result, Rewrite, bool]]) -> None:
        """The updates of the zero buffer by the granted writers: result, rewrite and new side."""
        for number, path in enumerate(self._config.write_paths):
            port, granted = f"renewal__{number}", [written[i] for i in written if i in path]
            self._checker.equal("renewal", seen[f"{port}__enable"], len(granted))
            for latch, rewrite, left in granted:
                address = {"bank": latch["bank"], "row": latch["row"], "left": left}
                shown = self._codecs[f"{port}__address"].unpack(seen[f"{port}__address"])
                self._checker.equal("address", shown, address)
                self._checker.equal("zero", seen[f"{port}__late"], self._pack(rewrite.zero))

    def _pack(self, zero: Zero) -> int:
        return pack(zero_fields(self._config), {"zero": zero.mask, "reorder": zero.reorder})


class GatedWritebackCheck(WritebackCheck):
    """Everything equals the model's. Without the model: after a write its lanes read the result, and other live lanes
    the same value as before."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        super().__init__(ports, checker, coverage)
        self._rules, self._rng = LaneOrder(ports.config.gating), random.Random(ports.config.rows)
        self._zero_ports = ZeroPorts(ports, checker) if ports.config.has_zero_mask else None

    def _banks_written(self, seen: Observation, requests: list[int | None], grants: list[bool]) -> None:
        written = [i for i, granted in enumerate(grants) if granted and requests[i] is not None]
        if self._zero_ports:
            self._zero_ports.masks(seen, self.model)
            self._zero_ports.updates(seen, {i: (*self._held(i), False) for i in written})
        for bank in range(self._banks):
            here = [i for i in written if requests[i] == bank]
            access = self.access(seen, bank)
            row, data, enable = access["row"], *(self._codecs[name].array(seen[name])[bank]
                                                 for name in ("write__data", "write__byte_enable"))
            self._checker.equal(f"write[{bank}]", access["enable"], len(here))
            if here:
                self._entry_written(here[0], row, data, enable)
            else:
                self._checker.equal(f"bank {bank}", (row, data, enable), (0, 0, 0))
        self._cover_paths(len(written))
        self._coverage.hit("SFU while SP holds a result without a bank", 1 in written and seen["latches__valid"] & 1)

    def _held(self, writer: int) -> tuple[Result, Rewrite]:
        latch = self.model.latches[writer]
        assert latch is not None
        return latch, rewrite_of(self.model, writer)

    def _entry_written(self, writer: int, row: int, data: int, enable: int) -> None:
        """The write of a bank, and the values that are read from it afterwards."""
        latch, rewrite = self._held(writer)
        old, new = sparse.zero_of(latch), rewrite.zero
        written = byte_mask(enable)
        self._checker.equal("row", row, latch["row"])
        self._checker.equal("byte_enable", enable, byte_enables(reorder(rewrite.byte_mask, new.reorder)))
        self._checker.equal("data", data & written, reorder(rewrite.word, new.reorder))
        self._checker.equal("columns", columns_of(enable), rewrite.columns)
        entry = self._rng.getrandbits(WARP_BITS)
        before = self._rules.restore(reorder(entry, old.reorder), old)
        after = self._rules.restore(reorder(entry & ~written | data & written, new.reorder), new)
        mine = spread(latch["lanes"])
        self._checker.equal("written lanes read", after & mine, latch["data"] & mine)
        if not latch["full"]:
            self._checker.equal("other lanes read", after & ~mine, before & ~mine)
        self._coverage.hit("full" if latch["full"] else "partial")
        if self._zero_ports:
            self._coverage.hit("nothing written", not enable)


class GatedCoalescingCheck(CoalescingWritebackCheck):
    """The gated write-back of the coalescing register file."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        super().__init__(ports, checker, coverage)
        self._rules = Interleaved(ports.config.gating)
        self._zero_ports = ZeroPorts(ports, checker) if ports.config.has_zero_mask else None

    def _updates(self, seen: Observation, written: list[int]) -> None:
        super()._updates(seen, written)
        if self._zero_ports:
            self._zero_ports.masks(seen, self.model)
            self._zero_ports.updates(seen, {i: (latch, rewrite_of(self.model, i), stored.encoding.left)
                                            for i in written for latch, stored in [self._latch(i)]})

    def _lanes_read(self, seen: Observation, writer: int, data: int, enable: int) -> None:
        latch, _ = self._latch(writer)
        rewrite = rewrite_of(self.model, writer)
        old, new = self._old[writer], self._new(seen, writer)
        entry = self._rng.getrandbits(WARP_BITS)
        before = self._rules.restore(from_sub_banks(entry, old.left), sparse.zero_of(latch), old)
        enabled = sum(enable & LANE_BYTES << LANES * k for k in range(SUB_BANKS) if new.mask >> k & 1)
        self._checker.equal("columns", columns_of(enabled), rewrite.columns)
        written = byte_mask(enabled)
        after = self._rules.restore(from_sub_banks(entry & ~written | data & written, new.left), rewrite.zero, new)
        mine = spread(latch["lanes"])
        self._checker.equal("written lanes read", after & mine, latch["data"] & mine)
        if not latch["full"]:
            self._checker.equal("other lanes read", after & ~mine, before & ~mine)


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """Random results and grants."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    if ports.config.has_sides:
        coverage = Coverage("stall", *coalescing.points(ports.config))
        stimulus = coalescing.stimuli(ports, narrow_result)
        await exercise(ports, stimulus, GatedCoalescingCheck(ports, checker, coverage), checker)
    else:
        known = ["nothing written"] if ports.config.has_zero_mask else []
        coverage = Coverage("stall", *points(ports.config), "full", "partial", *known)
        await exercise(ports, stimuli(ports, result), GatedWritebackCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("gating", [
    "active", pytest.param("in_lane", marks=pytest.mark.long), "cross_lane",
])
def test_gated_writeback(gating: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"gating={gating}"])
    runner.run(runner.build(config, "Writeback"), "warploom.tb.gating.test_writeback", seed)


@pytest.mark.rtl
@pytest.mark.parametrize(("gating", "alignment"), [
    ("cross_lane", "write"), *(pytest.param(gating, "reg", marks=pytest.mark.long) for gating in (
        "active", "in_lane", "cross_lane")),
])
def test_gated_coalescing_writeback(gating: str, alignment: str, seed: int) -> None:
    settings = ["coalescing=on", f"alignment={alignment}", f"gating={gating}"]
    made = runner.build(SmConfig.preset("small").with_settings(settings), "Writeback")
    runner.run(made, "warploom.tb.gating.test_writeback", seed)
