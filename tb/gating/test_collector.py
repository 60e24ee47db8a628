"""Bench of the gated collectors: hardware against `warploom.golden_model.operands.collector` with a form that has
zero masks."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import cocotb
import pytest

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.fields import width
from warploom.arch.interfaces import zero_fields
from warploom.arch.mechanisms.baseline import FAST
from warploom.golden_model.byte_order import to_sub_banks
from warploom.golden_model.placement import Address
from warploom.golden_model.register_file.forms import Packed
from warploom.golden_model.register_file.ports import Metadata
from warploom.golden_model.register_file.zero_mask import NOTHING_KNOWN, Interleaved, LaneOrder, Zero
from warploom.golden_model.words import ALL_LANES, spread
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.coalescing.test_collector import COALESCED, CoalescingCollectorCheck
from warploom.tb.coalescing.test_collector import stimuli as coalescing_stimuli
from warploom.tb.gating.test_operand import zero, zero_of, zero_word
from warploom.tb.narrow_values import encoding_of
from warploom.tb.operands.test_collector import CYCLES, CollectorCheck, SlotsCheck, planned, points
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


class GatedSlotsCheck(SlotsCheck):
    """The checks of both kinds of collectors: zero masks and needed columns equal the model's; needed columns hold the
    operand that arrived, and a column changes only when it is stored.

    The model takes an instruction together with its zero masks, which are valid one cycle later.
    """

    rules: LaneOrder | Interleaved

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        super().__init__(ports, checker, coverage)  # type: ignore[call-arg]
        self._config = ports.config
        self._passes = not ports.config.arrival_delay  # an operand passes the storage as it arrives
        self._taken: tuple[Any, ...] | None = None
        self._stored, self._loads = [0] * 3, [ALL_LANES] * 3  # of the previous cycle; at first any column may change
        self._present, self._fresh = ALL_SLOTS, 0  # slots that had an operand, and that have just got one

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the model through its end."""
        if self._taken is not None:
            fields, sources, destination, metadata = self._taken
            known = self.known(metadata, self._found(fields, self._zeros(seen, "instruction__late")))
            self._model.issue(fields, tuple(sources), destination, tuple(known))
            self._taken = None
        super().__call__(seen)
        self._present = ALL_SLOTS if seen["take"] else seen["present"]
        if seen["take"] and MEETING in self.coverage.hits:
            reads = self.codecs["instruction__issue"].unpack(seen["instruction__issue"])["reads"]
            self.coverage.hit(MEETING, self._fresh & ~reads)

    def take(
        self, fields: dict[str, Any], sources: list[Address], destination: Address, metadata: Sequence[Metadata]
    ) -> None:
        self._taken = fields, sources, destination, metadata

    def known(self, metadata: Sequence[Metadata], zeros: list[Zero]) -> Sequence[Metadata]:
        """The metadata of an instruction's registers, with their zero masks from the zero buffer."""
        raise NotImplementedError

    def zero(self, metadata: Metadata) -> Zero:
        """The zero mask in a register's metadata."""
        raise NotImplementedError

    def _found(self, fields: dict[str, Any], zeros: list[Zero]) -> list[Zero]:
        """The zero masks of each slot and of the destination; of a slot without a register, that of the constant."""
        found = [
            zeros[slot] if fields["reads"] >> slot & 1
            else self.rules.constant(fields["imm"] if fields["imm_slot"] == slot else 0) for slot in range(3)
        ]
        return [*found, zeros[-1] if fields["writes"] else NOTHING_KNOWN]

    def _zeros(self, seen: Observation, port: str) -> list[Zero]:
        """The zero masks at a port; without one, nothing is known to be zero."""
        if not self._config.has_zero_mask:
            return [NOTHING_KNOWN] * REGISTERS
        return [zero_of(word) for word in self.codecs[port].array(seen[port])]

    def offers(self, seen: Observation) -> None:
        super().offers(seen)
        columns = self.codecs["read__columns"].unpack(seen["read__columns"])
        for (bank, side), read in self._model.requests().items():
            offered, needed = columns[str(bank)][str(side)], self._model.needed[read.key]
            self.checker.equal(f"columns of slot {read.key}", offered, needed)
        stored, loads = (self.codecs[name].array(seen[name]) for name in ("offer__operands", "loads"))
        last, self._fresh = self._fresh, seen["present"] & ~self._present
        passing = last | self._fresh if self._passes else 0  # shown before it is stored
        for slot, (before, after, loaded) in enumerate(zip(self._stored, stored, self._loads, strict=True)):
            kept = 0 if passing >> slot & 1 else (before ^ after) & spread(ALL_LANES & ~loaded)
            self.checker.holds(f"columns of slot {slot} that are not stored stay", not kept)
        self._stored, self._loads = stored, loads

    def operands(self, seen: Observation) -> None:
        model = self._model
        self.checker.equal("needed", self.codecs["offer__needed"].array(seen["offer__needed"]), list(model.needed))
        if self._config.has_zero_mask:
            self.checker.equal("zeros", self._zeros(seen, "offer__late"), list(map(self.zero, model.metadata)))
        if self._config.has_sides:
            early = self.codecs["offer__early"].unpack(seen["offer__early"]).values()
            self.checker.equal("encodings", [*map(encoding_of, early)], [each.encoding for each in model.metadata])
        stored = self.codecs["offer__operands"].array(seen["offer__operands"])
        for slot, (needed, word) in enumerate(zip(model.needed, self.arrived(), strict=True)):
            columns = spread(needed)
            self.checker.equal(f"needed columns of slot {slot}", stored[slot] & columns, word & columns)
            kind = KINDS[not model.fields["reads"] >> slot & 1]
            self.coverage.hit(f"some columns of a {kind}", 0 < needed < ALL_LANES)
            if self._config.has_zero_mask:
                self.coverage.hit(f"no column of a {kind}", not needed)

    def arrived(self) -> Sequence[int]:
        """The model's operands of each slot, in the order of columns."""
        raise NotImplementedError


class GatedCollectorCheck(GatedSlotsCheck, CollectorCheck):
    """The gated collector."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self.rules = LaneOrder(ports.config.gating)
        super().__init__(ports, checker, coverage)

    def known(self, metadata: Sequence[Metadata], zeros: list[Zero]) -> Sequence[Metadata]:
        return zeros

    def zero(self, metadata: Metadata) -> Zero:
        found: Zero = metadata
        return found

    def arrived(self) -> Sequence[int]:
        return self._model.words


class GatedCoalescingCollectorCheck(GatedSlotsCheck, CoalescingCollectorCheck):
    """The gated coalescing collector."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self.rules = Interleaved(ports.config.gating)
        super().__init__(ports, checker, coverage)

    def known(self, metadata: Sequence[Metadata], zeros: list[Zero]) -> Sequence[Metadata]:
        return list(map(Packed, metadata, zeros))

    def zero(self, metadata: Metadata) -> Zero:
        found: Zero = metadata.zero
        return found

    def arrived(self) -> Sequence[int]:
        return [to_sub_banks(word, metadata.encoding.left)
                for word, metadata in zip(self._model.words, self._model.metadata, strict=True)]


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, zero masks, grants and dispatches."""
    ports, checker = Ports(dut), Checker(minimum=6 * CYCLES)
    coalescing = ports.config.has_sides
    kind = GatedCoalescingCollectorCheck if coalescing else GatedCollectorCheck
    parts = ["some columns", *(["no column"] if ports.config.has_zero_mask else [])]
    gated = [f"{part} of a {kind}" for part in parts for kind in KINDS]
    met = [] if ports.config.turnaround or ports.config.arrival_delay else [MEETING]
    coverage = Coverage(*points(ports.config), *(COALESCED if coalescing else ()), *gated, *met)
    await exercise(ports, planned(ports.config, stimuli(ports)), kind(ports, checker, coverage), checker)
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
