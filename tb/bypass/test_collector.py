"""Bench of the bypassing collector: hardware against `warploom.golden_model.bypass.collector`."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES
from warploom.arch.mechanisms.baseline import FAST
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.bypass.entries import Coming, Delivery, Entry, Events, Taken
from warploom.golden_model.byte_order import from_sub_banks
from warploom.golden_model.placement import Address
from warploom.golden_model.records import SOURCES, StoredFields
from warploom.golden_model.register_file.reorder import reorder
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.register_file.zero_mask import Interleaved, LaneOrder, Zero
from warploom.golden_model.words import ALL_LANES, spread
from warploom.tb import runner
from warploom.tb.bench import Checker, Observation, Ports, Stimulus, exercise, source
from warploom.tb.bypass.warp import Warp, enumerate_text
from warploom.tb.bypass.window_coverage import WindowCoverage
from warploom.tb.sparse import old

CYCLES = 20_000


class StoredForm:
    """Columns that a read enables, and the words that it returns, for registers in their stored form."""

    def __init__(self, config: SmConfig) -> None:
        self._coalescing = config.has_sides
        self._interleaved, self._lane_order = Interleaved(config.gating), LaneOrder(config.gating)

    def columns(self, lanes: int, stored: StoredFields) -> int:
        """The columns that a read of some lanes of a register needs."""
        if self._coalescing:
            return self._interleaved.needed(lanes, _zero(stored), Encoding.of(stored))
        return self._lane_order.needed(lanes, _zero(stored))

    def plain(self, word: int, stored: StoredFields) -> int:
        """The lanes of a word from the register file."""
        if not self._coalescing:
            zero = _zero(stored)
            return self._lane_order.restore(reorder(word, zero.reorder), zero)
        encoding = Encoding.of(stored)
        return self._interleaved.restore(from_sub_banks(word, encoding.left), _zero(stored), encoding)


def _zero(stored: StoredFields) -> Zero:
    return Zero(stored.get("zero", 0), stored.get("reorder", 0))


class CollectorBench:
    """Drives a collector and its model with the same inputs, and compares all outputs in each cycle.

    The model's cycle ends when the hardware's next one begins, because the zero masks of a taken instruction are valid
    only then.
    """

    def __init__(self, ports: Ports, rng: random.Random, checker: Checker, coverage: WindowCoverage) -> None:
        self._config, self._codecs, self._rng = ports.config, ports.codecs, rng
        self._checker, self._coverage = checker, coverage
        self._model = BypassingCollector(ports.config, 0)
        self._warp = Warp(ports.config, rng, self._model)
        self._form = StoredForm(ports.config)
        self._coalescing, self._writes_back = ports.config.has_sides, ports.config.writes_back
        self._ended: Events | None = None  # the events of the previous cycle
        self._evicted: dict[str, Any] | None = None  # the entry that left in the previous cycle, and its register

    def stimuli(self) -> Iterator[Stimulus]:
        """A random warp; the zero buffer shows other masks in each cycle."""
        for _ in range(CYCLES):
            zeros = [old(self._rng, self._config) for _ in range(4)]
            self._end_cycle(zeros)
            port = {"instruction__late": dict(enumerate_text(zeros))} if self._config.has_zero_mask else {}
            yield {**self._warp.cycle(), **port}

    def _end_cycle(self, zeros: list[dict[str, int]]) -> None:
        """End the model's cycle, with the zero masks of the registers of the instruction that it takes."""
        if self._ended is None:
            return
        take = self._ended.take
        if take is not None:
            known = [*zeros[:3], zeros[3] if take.fields["writes"] else dict.fromkeys(zeros[3], 0)]
            stored: Any = [{**encoding, **zero} for encoding, zero in zip(take.stored, known, strict=True)]
            self._ended.take = take._replace(stored=stored)
        self._coverage.cycle(self._model, self._ended)
        self._model.clock(self._ended)

    def check(self, seen: Observation) -> None:
        """Check one cycle, and store the changes at its end."""
        model, equal = self._model, self._checker.equal
        arriving = [entry for entry in model.entries if entry.arriving and seen.get("read__arrives", 1)]
        words = [self._form.plain(seen["read__word"], entry.stored) for entry in arriving]
        if words and self._config.passes_storage:
            model.forward(words[0])
        blocked, dispatched = bool(seen.get("eviction__blocked")), bool(seen["offer__dispatched"])
        state = (seen["held_count"], *(seen[name] for name in model.observed[1:]))
        equal(", ".join(model.observed), state, tuple(model.observe()))
        equal("busy", seen["offer__busy"], len(model.held) > 0)
        equal("ready", seen["offer__ready"], model.ready)
        equal("free_entries", seen["free_entries"], model.free_entries(blocked, dispatched))
        self._check_request(seen)
        self._check_oldest(seen)
        coming = self._check_coming(seen)
        self._check_loads(seen, arriving)
        if self._writes_back:
            self._check_evicted(seen)
            self._check_leaving(seen)
        if dispatched:
            self._check_values(seen)
        self._ended = Events(
            take=self._taken(seen) if seen["take"] else None, granted=bool(seen["read__grant"]),
            read=self._warp.reading, arriving_word=words[0] if words else None, coming=coming,
            delivery=self._delivered(seen), dispatched=dispatched, evicted=bool(seen.get("eviction__taken")),
        )

    def _check_request(self, seen: Observation) -> None:
        request, expected = self._model.request(), 0
        if request is not None:
            side = Encoding.of(request.stored).left if self._coalescing else 0
            expected = 1 << (len(SIDES) * request.address.bank + side if self._coalescing else request.address.bank)
            self._checker.equal("row", seen["read__row"], request.address.row)
            if self._coalescing:
                self._checker.equal("mask", seen["read__mask"], Encoding.of(request.stored).mask)
        on_its_way = self._warp.selected and not seen["read__grant"]
        self._checker.equal("request", seen["read__request"], 0 if on_its_way else expected)
        if self._config.gates_columns:
            needed = 0 if request is None else self._form.columns(request.lanes, request.stored)
            self._checker.equal("columns", seen["read__columns"], needed)

    def _check_oldest(self, seen: Observation) -> None:
        """The oldest instruction and, when it is ready, its operands, from its entries."""
        model = self._model
        if not model.held:
            return
        fields: Mapping[str, Any] = model.fields
        for name, value in self._codecs["offer__held"].unpack(seen["offer__held"]).items():
            self._checker.equal(f"held.{name}", value, int(fields[name]))
        if "offer__needed" in seen:
            needed = self._codecs["offer__needed"].array(seen["offer__needed"])
            self._checker.equal("needed", needed, [model.fields["lanes"]] * 3)
        if not model.ready:
            return
        words = self._codecs["offer__operands"].array(seen["offer__operands"])
        for slot, (entry, actual, word) in enumerate(zip(model.held[0].slots, words, model.operands(), strict=True)):
            lanes = spread(ALL_LANES if entry is None else self._shown_lanes(entry))
            self._checker.equal(f"operand {slot}", actual & lanes, word & lanes)

    def _shown_lanes(self, entry: Entry) -> int:
        """The lanes of an entry that are shown as an operand."""
        return entry.valid | (entry.arriving if self._config.passes_storage else 0)

    def _check_values(self, seen: Observation) -> None:
        """Without the model: executing lanes read what was written last."""
        fields = self._model.fields
        if not self._warp.plain:
            return
        lanes = spread(fields["lanes"])
        for slot, word in enumerate(self._codecs["offer__operands"].array(seen["offer__operands"])):
            if fields["reads"] >> slot & 1:
                value = self._warp.values.current(fields[SOURCES[slot]])
                self._checker.equal(f"value of slot {slot}", word & lanes, value & lanes)

    def _check_coming(self, seen: Observation) -> list[Coming]:
        """Results that enter latches: which of them will be delivered."""
        coming = []
        for i, result in self._codecs["forward__coming"].unpack(seen["forward__coming"]).items():
            if result["valid"]:
                deliver = self._model.delivers(result["register"], result.get("to_collector", 1))
                self._coverage.hit("delivered to its dirty lanes", deliver and not result.get("to_collector", 1))
                coming.append(Coming(result["register"], deliver))
                self._checker.equal(f"deliver {i}", seen["forward__deliver"] >> int(i) & 1, deliver)
        return coming

    def _delivered(self, seen: Observation) -> Delivery | None:
        port = self._codecs["forward__delivery"].unpack(seen["forward__delivery"])
        if not port["valid"]:
            return None
        return Delivery(port["register"], port["data"], port["lanes"], bool(port["full"]), bool(port["transient"]))

    def _check_loads(self, seen: Observation, arriving: list[Entry]) -> None:
        """The lanes that entries take."""
        delivered = self._delivered(seen)
        masks = [arriving[0].arriving if arriving else 0, delivered.lanes if delivered else 0]
        if not self._config.gates_columns:
            masks = [ALL_LANES if mask else 0 for mask in masks]
        self._checker.equal("loads", self._codecs["loads"].array(seen["loads"]), masks)

    def _check_evicted(self, seen: Observation) -> None:
        """The fields of an entry are shown in the cycle after that in which it left."""
        expected, self._evicted = self._evicted, None
        if expected is None:
            return
        eviction = self._codecs["eviction__entry"].unpack(seen["eviction__entry"])
        lanes = spread(expected["lanes"])
        for name, value in eviction.items():
            if name != "data":
                self._checker.equal(f"eviction.{name}", value, int(expected[name]))
        self._checker.equal("eviction.data", eviction["data"] & lanes, expected["data"] & lanes)
        self._warp.values.file(expected["register"], eviction["data"], expected["lanes"])

    def _check_leaving(self, seen: Observation) -> None:
        """Evicted and dropped entries."""
        leaving = None if seen["take"] else self._model.leaving()
        evicts, drops = leaving is not None and not leaving.dropped, leaving is not None and leaving.dropped
        self._checker.equal("evict", seen["eviction__request"], evicts)
        if leaving is None:
            return
        entry = self._model.entries[leaving.entry]
        if evicts and seen["eviction__taken"]:
            self._evicted = {**entry.address._asdict(), **entry.stored, "lanes": entry.dirty, "full": entry.full,
                             "data": entry.word, "register": entry.register}
        if self._config.has_hints:
            drop = {"valid": int(drops), **({"register": entry.register, "lanes": entry.dirty} if drops else {})}
            actual = self._codecs["drop"].unpack(seen["drop"])
            self._checker.equal("drop", {name: actual[name] for name in drop}, drop)

    def _taken(self, seen: Observation) -> Taken:
        """The taken instruction, without zero masks."""
        *sources, destination = (Address(**address) for address in self._fields("address", seen).values())
        stored: list[StoredFields] = [{}] * 4
        if self._coalescing:
            stored = list(self._fields("early", seen).values())
        return Taken(self._fields("issue", seen), tuple(sources), destination, stored)

    def _fields(self, port: str, seen: Observation) -> Any:
        return self._codecs[f"instruction__{port}"].unpack(seen[f"instruction__{port}"])


@cocotb.test()
async def random_warp(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, grants, results and evictions."""
    ports, checker = Ports(dut), Checker(minimum=10 * CYCLES)
    coverage = WindowCoverage(ports.config)
    bench = CollectorBench(ports, source(), checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    ["bypass=bow_hints", "entries=4", "coalescing=on", "gating=cross_lane"],
    ["bypass=bow_wr", "entries=6", "coalescing=on", "gating=in_lane", "window_delay=off", *FAST],
    ["bypass=bow_hints", "window=2", "entries=8", "transient=on", *FAST],
    pytest.param(["bypass=bow", "entries=4", "gating=active"], marks=pytest.mark.long),
    ["bypass=bow", "entries=4", "coalescing=on"],
    ["bypass=bow_wr", "entries=4", "coalescing=on", "gating=in_lane", "read_arbiter=pipelined", "dispatch_delay=1"],
], ids=" ".join)
def test_collector(settings: list[str], seed: int) -> None:
    _run(settings, seed)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("settings", [
    ["bypass=bow_wr", "entries=4", "window=2", "coalescing=on", "alignment=write", "window_delay=off"],
    ["bypass=bow"],
    ["bypass=bow", "window=2", "entries=4", "arrival_delay=0"],
    ["bypass=bow_wr", "entries=4"],
    ["bypass=bow_hints", "window=2", "entries=4", *FAST],
    ["bypass=bow_hints", "window=2", "entries=8", "transient=on"],
    ["bypass=bow_hints", "window=2", "entries=8", "transient=on", "turnaround=0"],
    ["bypass=bow_hints", "window=5"],
    ["bypass=bow_hints", "gating=cross_lane", *FAST],
    ["bypass=bow_hints", "entries=4"],
    ["bypass=bow_hints", "entries=4", "window=2", "gating=cross_lane", "window_delay=off"],
    ["bypass=bow_wr", "entries=6", "window=5", "gating=in_lane"],
    ["bypass=bow_hints", "entries=4", "window=2", "read_arbiter=pipelined", *FAST],
    ["bypass=bow_hints", "entries=4", "window=2", "dispatch_delay=1", *FAST],
], ids=" ".join)
def test_more_collectors(settings: list[str], seed: int) -> None:
    """Larger collectors, which take minutes to build, and further combinations of these settings."""
    _run(settings, seed)


def _run(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(settings)
    runner.run(runner.build(config, "BypassingCollector"), "warploom.tb.bypass.test_collector", seed)
