"""Bench of the rename stage: hardware against `warploom.golden_model.renaming.stage`, in every cycle."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.golden_model.inputs import WarpEvents
from warploom.golden_model.placement import Address, Placement
from warploom.golden_model.records import SOURCES, IssueFields
from warploom.golden_model.register_file.ports import Port
from warploom.golden_model.renaming.lists import Kind
from warploom.golden_model.renaming.stage import RenameStage
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.observation import Probe
from warploom.tb.renaming.surroundings import Store, Surroundings

CYCLES = 10_000
SETTINGS = ("sp.result_queue=2", "renaming=mem_ra", "tfet_rows=5", "rows=16", "warps=4")

POINTS = ("waits for a row", "issues as another one leaves", "a collector is kept for the one in the stage",
          "a request is served", "a request is not served", "a value in a TFET row without a request",
          "a load of a warp that wants TFET", "a new value keeps its row", "a new value gets another row",
          "a new value keeps a row of the other kind", "a value is written in part", "a source is released",
          "a source that is read twice is released", "a source without a row", "several rows are released",
          "a request uses up the time", "a warp is swept")
SETS, SIDES = "a set without a collector, others with one", "both sides of a bank release a row"


class StageBench:
    """Random instructions, which wait as the front end does."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._ports, self._codecs, self._rng = ports, ports.codecs, source()
        self._checker, self._coverage = checker, coverage
        config = self._config = ports.config
        stride = 12 * config.banks // (config.warps * (1 if config.layout == "wid" else config.banks))
        self._around = Surroundings(config, self._rng, stride)
        self._store = cast("Any", Store(len(config.collector_sets)))
        self._model = RenameStage(config, self._store, self._store, stride, self._around.powered)
        self._probe = Probe(ports.codecs["probe"], self._model.observed)
        self._placement = Placement(config, stride)
        self._offered: IssueFields | None = None
        self._held: IssueFields | None = None
        self._granted: dict[Port, int] = {}  # rows whose last read was granted in the cycle before

    def stimuli(self) -> Iterator[Stimulus]:
        """Phases with many or few last reads."""
        active, around = busy(self._rng, 0.8), self._around
        for cycle in range(CYCLES):
            if cycle % 250 == 0:
                around.begin_phase()
            self._offered = around.instruction(self._ports.peek("sweeping")) if next(active) else None
            self._store.free_collectors = around.free()
            released, self._granted = self._granted, {}
            for (bank, side), row in around.grants():
                self._granted[bank, side] = row.row
                self._store.grant(row, side)
            yield {
                "stride": around.stride, "powered": around.powered, "issue__valid": self._offered is not None,
                "issue__payload": self._offered or {}, "retired": around.retired,
                "began": around.accesses.began, "ended": around.accesses.ended, "released": self._released(released),
                "free": {str(number): count for number, count in enumerate(self._store.free_collectors)},
            }

    def _released(self, rows: Mapping[Port, int]) -> Mapping[str, Any]:
        banks, sides = range(self._config.banks), range(1 + self._config.has_sides)
        return {str(bank): {str(side): {"valid": (bank, side) in rows, "row": rows.get((bank, side), 0)}
                            for side in sides} for bank in banks}

    # ------------------------------------------------------------------ checks

    def check(self, seen: Observation) -> None:
        """Outputs and state are those of the model; then the cycle ends."""
        model, around, equal = self._model, self._around, self._checker.equal
        model.hold_back()
        for name in ("sweeping", "stall", "tfet_free"):
            equal(name, seen[name], getattr(model, name))
        free = [min(count, 1) for count in model.free_collectors]
        equal("free_collectors", self._codecs["free_collectors"].array(seen["free_collectors"]), free)
        self._check_state(seen)
        self._cover(seen, free)
        offered = self._offered
        taken = offered if offered is not None and model.takes(offered) else None
        if taken is not None:
            model.issue(taken, *self._addresses(taken))
        model.read()
        equal("renamed.valid", seen["renamed__valid"], int(self._store.left is not None))
        if self._store.left is not None:
            fields, sources, destination = self._store.left
            self._check_left(seen, fields, [*sources, destination])
            around.left(fields, sources)
            self._held = None
        if taken is not None:
            around.issued(taken)
            self._held = taken
        assert model.predictor is not None
        wanted = model.predictor.wants & ~around.accesses.began
        model.clock(WarpEvents(around.accesses.began, around.accesses.ended, around.retired))
        self._coverage.hit("a request uses up the time", wanted & ~model.predictor.wants)
        around.advance(seen["sweeping"])

    def _addresses(self, fields: IssueFields) -> tuple[tuple[Address, ...], Address]:
        """The virtual addresses of the registers of an instruction."""
        *sources, destination = (self._placement[fields["warp"] << 8 | fields[name]] for name in (*SOURCES, "dst"))
        return tuple(sources), destination

    def _check_state(self, seen: Observation) -> None:
        expected = self._model.observe()
        if seen["probe"] != self._probe.pack(expected):
            actual = self._probe.unpack(seen["probe"])
            for name, value in zip(self._probe.names, expected, strict=True):
                self._checker.equal(name, actual[name], value)

    def _check_left(self, seen: Observation, fields: Mapping[str, Any], addresses: Sequence[Address]) -> None:
        """The instruction that leaves is the one that came, with the slots that release a row, and with the rows of its
        registers."""
        actual = self._codecs["renamed__payload"].unpack(seen["renamed__payload"])
        for name, value in actual.items():
            expected = fields["releases"] if name == "last" else int(fields[name])
            self._checker.equal(f"renamed.{name}", value, expected)
        shown = self._codecs["address"].unpack(seen["address"])
        for register, address in enumerate(addresses):
            if (fields["reads"] | fields["writes"] << len(SOURCES)) >> register & 1:
                for name, value in shown[str(register)].items():
                    self._checker.equal(f"address {register}.{name}", value, int(getattr(address, name)))

    # ------------------------------------------------------------------ coverage

    def _cover(self, seen: Observation, free: Sequence[int]) -> None:
        """What happens in this cycle, before it ends."""
        hit, held, counts = self._coverage.hit, self._held, self._store.free_collectors
        hit("a warp is swept", seen["sweeping"])
        hit("several rows are released", len(self._granted) > 1)
        hit("a collector is kept for the one in the stage", seen["renamed__valid"] and free != [*map(bool, counts)])
        if SETS in self._coverage.hits:
            hit(SETS, self._offered and 0 < sum(free) < len(free))
        if SIDES in self._coverage.hits:
            hit(SIDES, any((bank, 1) in self._granted for bank, side in self._granted if not side))
        if held is not None:
            hit("waits for a row", not seen["renamed__valid"])
            hit("issues as another one leaves", seen["renamed__valid"] and self._offered and any(free))
            if seen["renamed__valid"]:
                self._cover_sources(held)
                if held["writes"]:
                    self._cover_destination(held)

    def _cover_sources(self, held: IssueFields) -> None:
        sources, _ = self._addresses(held)
        read = [held[name] for slot, name in enumerate(SOURCES) if held["reads"] >> slot & 1]
        for slot, (name, source_) in enumerate(zip(SOURCES, sources, strict=True)):
            if held["reads"] >> slot & 1:
                is_mapped = self._model.table.row(source_.bank, source_.row) is not None
                ends = is_mapped and held["last"] >> slot & 1 and not (held["writes"] and held[name] == held["dst"])
                self._coverage.hit("a source without a row", not is_mapped)
                self._coverage.hit("a source is released", ends)
                self._coverage.hit("a source that is read twice is released", ends and read.count(held[name]) > 1)

    def _cover_destination(self, held: IssueFields) -> None:
        """By what the contract says of destinations."""
        hit, model = self._coverage.hit, self._model
        _, destination = self._addresses(held)
        bank, row = destination.bank, model.table.row(destination.bank, destination.row)
        assert model.predictor is not None
        time = model.predictor.wants >> held["warp"] & 1
        is_memory = self._config.pipes[held["pipe"]].kind is Pipe.MEM
        wanted = Kind(time and not is_memory)
        shown = model.lists.shows(bank, wanted) is not None
        ends = any(held["reads"] & held["last"] & 1 << slot and held[name] == held["dst"]
                   for slot, name in enumerate(SOURCES))
        if row is None:
            hit("a request is served", wanted and shown)
            hit("a request is not served", wanted and not shown)
            hit("a value in a TFET row without a request", not (wanted or shown))
            hit("a load of a warp that wants TFET", is_memory and time)
        elif not ends:
            hit("a value is written in part")
        else:
            same = Kind(row >= self._config.cmos_rows) is wanted
            hit("a new value keeps its row", same)
            hit("a new value gets another row", not same and shown)
            hit("a new value keeps a row of the other kind", not same and not shown)


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, and warps that end."""
    ports = Ports(dut)
    several = [SETS] if len(ports.config.collector_sets) > 1 else []
    sides = [SIDES] if ports.config.has_sides else []
    checker, coverage = Checker(minimum=5 * CYCLES), Coverage(*POINTS, *several, *sides)
    bench = StageBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    ("bank_ports=2", "layout=wid", "collectors=3", "mem_collectors=1"),
    ("coalescing=on", "alignment=write", "layout=wid"),
    pytest.param((), marks=pytest.mark.long),
    pytest.param(("coalescing=on",), marks=pytest.mark.long),
], ids=" ".join)
def test_stage(settings: tuple[str, ...], seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*SETTINGS, *settings])
    runner.run(runner.build(config, "RenameStage"), "warploom.tb.renaming.test_stage", seed)
