"""Activity counters (docs/contract/counting.md, *Activity*): the events of each cycle; every counter is checked."""

import random
from typing import Any, cast

import pytest
from support.gated_runs import COALESCING, COLUMN_COUNTERS, GATED, config, integers
from support.golden_traces import random_trace

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import ACTIVITY_FIELDS
from warploom.arch.isa import Op
from warploom.arch.mechanisms import Gating
from warploom.golden_model.activity import UNGATED, ColumnMeter, LaneMeter
from warploom.golden_model.observation import shown_by
from warploom.golden_model.operands.plain_collector import PlainCollector
from warploom.golden_model.register_file.forms import Packed
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.sm import Sm
from warploom.golden_model.words import ALL_LANES


def test_a_sub_bank_is_enabled_with_any_of_its_columns() -> None:
    meter, rng = ColumnMeter(), random.Random(1)
    for _ in range(200):
        columns = rng.getrandbits(32) & rng.getrandbits(32) & rng.getrandbits(32)
        before = meter.sub_bank_writes, meter.column_writes
        meter.write(columns)
        after = [(columns >> 8 * k & 0xFF) > 0 for k in range(4)].count(True), f"{columns:b}".count("1")
        assert (meter.sub_bank_writes - before[0], meter.column_writes - before[1]) == after


class Observer:
    """Derives the counters from the visible state of each cycle: the probe, the dispatches, and collector contents."""

    def __init__(self, setting: SmConfig) -> None:
        self.counts = dict.fromkeys((name for name, _ in ACTIVITY_FIELDS), 0)
        self._config = setting
        self._held: list[tuple[int | None, int]] = [(None, 0)] * setting.collectors  # tag and slots present
        self._stages: list[tuple[int, int, int]] = [(0, 0, 0)] * 3  # computing, executing, passing lanes

    def start(self, datapath: Any) -> None:
        """The start of a cycle: collectors have stored the operands of the previous cycle."""
        for index, collector in enumerate(datapath.operands.collectors):
            tag = collector.fields["tag"] if collector.busy else None
            before = self._held[index]
            stored = collector.present & ~(before[1] if before[0] == tag else 0)
            for slot in range(3):
                if stored >> slot & 1:
                    self.counts["collector_columns"] += self._needed(collector, slot).bit_count()
            self._held[index] = tag, collector.present

    def end(self, datapath: Any) -> None:
        """The events in the cycle, and at its end."""
        probe = shown_by(datapath)
        for name, value in probe.items():
            if name.endswith("_enable") and value:
                self._bank(name.removesuffix("_enable"), probe)
        if datapath.dispatch[0] is not None:
            collector = datapath.operands.collectors[datapath.dispatch[0]["collector"]]
            self.counts["operand_columns"] += sum(
                32 if self._config.gating is Gating.OFF else self._needed(collector, slot).bit_count()
                for slot in range(3))
        self._stages = [self._lanes(datapath.sent[0]), *self._stages[:2]]
        (first, _, passes), (second, _, passed), (_, third, _) = self._stages
        self.counts["lane_loads"] += first + second + third
        self.counts["bypass_loads"] += passes + passed

    def _bank(self, port: str, probe: dict[str, int]) -> None:
        mask = sum(0xFF << 8 * k for k in range(4) if probe.get(f"{port}_mask", 15) >> k & 1)
        columns = mask & probe.get(f"{port.partition('_')[0]}_columns", ALL_LANES)
        kind = "writes" if probe[f"{port}_write"] else "reads"
        self.counts[f"column_{kind}"] += columns.bit_count()
        self.counts[f"sub_bank_{kind}"] += sum((columns >> 8 * k & 0xFF) > 0 for k in range(4))

    def _lanes(self, sent: Any) -> tuple[int, int, int]:
        if sent is None or sent["op"] > Op.SEL:
            return 0, 0, 0
        if self._config.gating is Gating.OFF:
            return 32, 32, 0
        outcomes = [sent.get("trivial", 0) >> 3 * lane & 7 for lane in range(32)]
        executing = [outcome for lane, outcome in enumerate(outcomes) if sent["lanes"] >> lane & 1]
        assert outcomes.count(0) == 32 - len(executing) + executing.count(0)
        return executing.count(0), len(executing), sum(outcome > 1 for outcome in executing)

    def _needed(self, collector: Any, slot: int) -> int:
        """Columns of a slot, from the text: one after the other."""
        metadata = None if isinstance(collector, PlainCollector) else collector.metadata[slot]
        narrow = metadata.encoding if isinstance(metadata, Packed) else metadata
        code = narrow if isinstance(narrow, Encoding) else None
        return sum(1 << column for column in range(32) if self._is_needed(collector, slot, column, code))

    def _is_needed(self, collector: Any, slot: int, column: int, code: Encoding | None) -> bool:
        group, byte = column // 4, column % 4
        if code is not None:
            group, byte = column % 8, 3 - column // 8 if code.left else column // 8
            if byte >= code.width:
                return False
        if self._config.gating is Gating.OFF:
            return True
        metadata, lanes = collector.metadata[slot], collector.fields["lanes"]
        zero = metadata.zero if isinstance(metadata, Packed) else metadata
        here = [lane for lane in range(4 * group, 4 * group + 4) if lanes >> lane & 1]
        if self._config.gating is Gating.CROSS_LANE and (code is not None or zero.reorder >> group & 1):
            return bool(here) and not zero.mask >> (column if code is None else 8 * byte + group) & 1
        if code is None:
            here = [lane for lane in here if lane == column]
        return any(not zero.mask >> lane & 1 for lane in here)


@pytest.mark.parametrize("gating", ["off", *GATED])
@pytest.mark.parametrize("settings", [["off"], ["on", "alignment=reg"], ["on", "alignment=write"]], ids=str)
def test_counters_show_what_happened_before_each_cycle(settings: list[str], gating: str) -> None:
    setting = config(settings[0], gating, *settings[1:])
    for trace in (random_trace(7, length=40, warps=4), integers(8, length=40, warps=2)):
        sm, observer = Sm(setting, trace), Observer(setting)
        while True:
            sm.step()
            if sm.finished:
                break
            observer.start(sm.datapath)
            assert sm.datapath.activity() == observer.counts, sm.cycle
            observer.end(sm.datapath)
        assert min(observer.counts[name] for name in COLUMN_COUNTERS) > 100
        assert (observer.counts["bypass_loads"] > 0) is setting.gating.has_zero_mask


@pytest.mark.parametrize("gating", ["off", "cross_lane"])
@pytest.mark.parametrize("coalescing", COALESCING)
def test_counters_do_not_depend_on_cycles_skipped(coalescing: str, gating: str) -> None:
    setting, trace = config(coalescing, gating), random_trace(9, warps=2, per_block=1)
    every, sm = {}, Sm(setting, trace)
    while not sm.finished:
        sm.step()
        every[sm.cycle] = sm.datapath.activity()
    sm, skipped = Sm(setting, trace), 0
    while not sm.finished:
        sm.step()
        assert sm.datapath.activity() == every[sm.cycle]
        if not sm.finished:
            before = sm.cycle
            sm.skip()
            skipped += sm.cycle - before
            assert sm.datapath.activity() == every[sm.cycle]
    assert skipped > 100


def test_lane_operations_are_those_of_sp_and_sfu() -> None:
    """32 for each of their instructions, in whatever lanes it executes; those of MEM, pipe 3, do not count."""
    meter = LaneMeter(sp_pipes=2, sfu_pipes=1)
    for pipe, lanes, trivial in ((0, 0xFF, 3), (1, 0xFFFF, 0), (2, 0xFFFFFFFF, 0), (3, 1, 0)):
        fields: Any = {"pipe": pipe, "lanes": lanes, "op": int(Op.LD if pipe == 3 else Op.MUFU)}
        meter.dispatch(0, fields, (0, 0, 0), trivial)
    assert (meter.operations, meter.inactive, meter.trivial) == (3 * 32, 24 + 16, 3)


def test_loads_of_two_pipes_that_are_still_to_come() -> None:
    """Both take an instruction in each of the cycles 0 to 2. Stage k loads at the end of the k-th cycle after that, so
    before cycle 3 two stages have loaded for those of cycle 0, one for those of cycle 1, and none for the others."""
    meter, fields = LaneMeter(sp_pipes=2), cast(Any, {"pipe": 0, "lanes": ALL_LANES, "op": int(Op.IADD)})
    for cycle in range(3):
        for _ in range(2):
            meter.dispatch(cycle, fields, UNGATED, 0)
    assert meter.loads(3) == (2 * 32 * (2 + 1), 0)
