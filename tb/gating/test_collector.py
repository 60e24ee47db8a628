"""Bench of the gated collectors: hardware against `warploom.golden_model.operands.collector` with a form that has
zero masks."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cocotb
import pytest

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.fields import width
from warploom.arch.interfaces import zero_fields
from warploom.arch.mechanisms.baseline import FAST
from warploom.golden_model.byte_order import to_sub_banks
from warploom.golden_model.register_file.forms import Packed
from warploom.golden_model.register_file.ports import Metadata
from warploom.golden_model.register_file.zero_mask import NOTHING_KNOWN, Interleaved, LaneOrder, Zero
from warploom.golden_model.words import ALL_LANES, spread
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.coalescing.test_collector import COALESCED, CoalescedSlots
from warploom.tb.coalescing.test_collector import stimuli as coalescing_stimuli
from warploom.tb.gating.test_operand import zero, zero_of, zero_word
from warploom.tb.narrow_values import encoding_of
from warploom.tb.operands.test_collector import CYCLES, CollectorCheck, Slots, WholeSlots, planned, points
from warploom.tb.operands.test_collector import stimuli as baseline_stimuli

REGISTERS = 4
"""Registers of an instruction: three sources and the destination."""

ALL_SLOTS = 0b111

KINDS = ("register", "constant")

MEETING = "a constant is taken as an operand arrives"


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """The stimuli of a collector without gating, with lanes that do not execute and constants that are zero; the port
    of the zero buffer changes in each cycle."""
    rng, config = source(), ports.config
    plain = coalescing_stimuli if config.has_sides else baseline_stimuli
    sources = [0] * 3  # of the instruction in the previous cycle
    for stimulus in plain(ports):
        issued = stimulus["instruction__issue"]
        issue = {"lanes": _lanes(rng), "imm": issued["imm"] if rng.getrandbits(1) else 0}
        known = {register: zero_word(config, zero(rng, config)) for register in (*sources, None)}
        looked_up = [known[register] for register in (*sources, None)]
        zeros = {"instruction__late": _array(looked_up, config)} if config.has_zero_mask else {}
        yield {**stimulus, "instruction__issue": issued | issue, **zeros}
        sources = [issued[f"src{slot}"] for slot in range(3)]


def _lanes(rng: random.Random) -> int:
    """All lanes, a group, or any."""
    return rng.choice((ALL_LANES, 0b1111 << GROUP * rng.randrange(LANES // GROUP), rng.getrandbits(LANES)))


def _array(words: list[int], config: SmConfig) -> int:
    """Zero masks in the format of a port."""
    return sum(word << width(zero_fields(config)) * i for i, word in enumerate(words))


@dataclass(frozen=True)
class Masks:
    """How a stored form has zero masks: the rules by which they are found, metadata with a mask and the mask in
    metadata, and an operand in the order of columns."""

    rules: LaneOrder | Interleaved
    pack: Callable[[Metadata, Zero], Metadata]
    zero: Callable[[Metadata], Zero]
    columns: Callable[[int, Metadata], int]

    @classmethod
    def of(cls, config: SmConfig) -> "Masks":
        """Those of a configuration."""
        if config.has_sides:
            return cls(Interleaved(config.gating), Packed, lambda metadata: metadata.zero,
                       lambda word, metadata: to_sub_banks(word, metadata.encoding.left))
        return cls(LaneOrder(config.gating), lambda _, zero: zero, lambda zero: zero, lambda word, _: word)


class GatedSlots:
    """The slots of a collector without gating, and: zero masks and needed columns equal the model's; needed columns
    hold the operand that arrived, and a column changes only when it is stored. Zero masks are valid one cycle after the
    instruction."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage, slots: Slots) -> None:
        self.model = slots.model
        self.arrive, self.step = slots.arrive, slots.step
        self._slots, self._masks, self._config = slots, Masks.of(ports.config), ports.config
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._passes = not ports.config.arrival_delay  # an operand passes the storage as it arrives
        self._stored, self._loads = [0] * 3, [ALL_LANES] * 3  # of the previous cycle; at first any column may change
        self._present, self._fresh = ALL_SLOTS, 0  # slots that had an operand, and that have just got one

    def take(self, seen: Observation, fields: dict[str, Any]) -> Sequence[Metadata]:
        self._present = ALL_SLOTS
        if MEETING in self._coverage.hits:
            self._coverage.hit(MEETING, self._fresh & ~fields["reads"])
        return self._slots.take(seen, fields)

    def known(self, seen: Observation, fields: dict[str, Any], metadata: Sequence[Metadata]) -> Sequence[Metadata]:
        """With the zero masks of each slot and of the destination; of a slot without a register, that of the
        constant."""
        zeros = self._zeros(seen, "instruction__late")
        found = [
            zeros[slot] if fields["reads"] >> slot & 1
            else self._masks.rules.constant(fields["imm"] if fields["imm_slot"] == slot else 0) for slot in range(3)
        ]
        return list(map(self._masks.pack, metadata, [*found, zeros[-1] if fields["writes"] else NOTHING_KNOWN]))

    def _zeros(self, seen: Observation, port: str) -> list[Zero]:
        """The zero masks at a port; without one, nothing is known to be zero."""
        if not self._config.has_zero_mask:
            return [NOTHING_KNOWN] * REGISTERS
        return [zero_of(word) for word in self._codecs[port].array(seen[port])]

    def offers(self, seen: Observation) -> None:
        self._slots.offers(seen)
        columns = self._codecs["read__columns"].unpack(seen["read__columns"])
        for (bank, side), read in self.model.requests().items():
            offered, needed = columns[str(bank)][str(side)], self.model.needed[read.key]
            self._checker.equal(f"columns of slot {read.key}", offered, needed)
        stored, loads = (self._codecs[name].array(seen[name]) for name in ("offer__operands", "loads"))
        last, self._fresh = self._fresh, seen["present"] & ~self._present
        self._present = seen["present"]
        passing = last | self._fresh if self._passes else 0  # shown before it is stored
        for slot, (before, after, loaded) in enumerate(zip(self._stored, stored, self._loads, strict=True)):
            kept = 0 if passing >> slot & 1 else (before ^ after) & spread(ALL_LANES & ~loaded)
            self._checker.holds(f"columns of slot {slot} that are not stored stay", not kept)
        self._stored, self._loads = stored, loads

    def operands(self, seen: Observation) -> None:
        model, masks, equal = self.model, self._masks, self._checker.equal
        equal("needed", self._codecs["offer__needed"].array(seen["offer__needed"]), list(model.needed))
        if self._config.has_zero_mask:
            equal("zeros", self._zeros(seen, "offer__late"), list(map(masks.zero, model.metadata)))
        if self._config.has_sides:
            early = self._codecs["offer__early"].unpack(seen["offer__early"]).values()
            equal("encodings", [*map(encoding_of, early)], [each.encoding for each in model.metadata])
        stored = self._codecs["offer__operands"].array(seen["offer__operands"])
        arrived = map(masks.columns, model.words, model.metadata)
        for slot, (needed, word) in enumerate(zip(model.needed, arrived, strict=True)):
            columns = spread(needed)
            equal(f"needed columns of slot {slot}", stored[slot] & columns, word & columns)
            kind = KINDS[not model.fields["reads"] >> slot & 1]
            self._coverage.hit(f"some columns of a {kind}", 0 < needed < ALL_LANES)
            if self._config.has_zero_mask:
                self._coverage.hit(f"no column of a {kind}", not needed)


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, zero masks, grants and dispatches."""
    ports, checker = Ports(dut), Checker(minimum=6 * CYCLES)
    coalescing = ports.config.has_sides
    parts = ["some columns", *(["no column"] if ports.config.has_zero_mask else [])]
    gated = [f"{part} of a {kind}" for part in parts for kind in KINDS]
    met = [] if ports.config.turnaround or ports.config.arrival_delay else [MEETING]
    coverage = Coverage(*points(ports.config), *(COALESCED if coalescing else ()), *gated, *met)
    slots = CoalescedSlots(ports, checker, coverage) if coalescing else WholeSlots(ports, checker)
    check = CollectorCheck(ports, checker, coverage, GatedSlots(ports, checker, coverage, slots))
    await exercise(ports, planned(ports.config, stimuli(ports)), check, checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.sample(2)
@pytest.mark.parametrize("gating", [pytest.param("active", marks=pytest.mark.long), "in_lane", "cross_lane"])
@pytest.mark.parametrize("settings", [[], ["coalescing=on", "alignment=write"]], ids=["off", "on"])
def test_collector(settings: list[str], gating: str, seed: int) -> None:
    run(settings, gating, seed)


@pytest.mark.rtl
@pytest.mark.parametrize("gating", [pytest.param("in_lane", marks=pytest.mark.long), "cross_lane"])
def test_collector_that_loses_no_cycle(gating: str, seed: int) -> None:
    run([*FAST], gating, seed)


def run(settings: list[str], gating: str, seed: int) -> None:
    """The bench on a collector with these settings."""
    config = SmConfig.preset("small").with_settings([f"gating={gating}", *settings])
    runner.run(runner.build(config, "Collector"), "warploom.tb.gating.test_collector", seed)
