"""Bench of the operand collector: hardware against `warploom.golden_model.operands.collector`."""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES, WARP_BITS, issue_fields
from warploom.arch.isa import NO_SLOT
from warploom.arch.layout import rows_per_warp
from warploom.arch.mechanisms.baseline import FAST
from warploom.golden_model.assembly import collectors_of
from warploom.golden_model.placement import Address, Placement
from warploom.golden_model.register_file.forms import form_of
from warploom.golden_model.register_file.ports import Metadata, Read
from warploom.golden_model.register_file.width import Encoding
from warploom.tb import runner
from warploom.tb.addresses import shown
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.narrow_values import encoding_of

CYCLES = 4000
REGISTERS = 24

POINTS = ("no registers", "one register in all slots", "repeat of a later slot", "immediate")


def points(config: SmConfig) -> list[str]:
    """What a bench of a collector must come by."""
    return [*POINTS, *([] if config.turnaround else ["taken as another one leaves"])]


def placement(config: SmConfig) -> Placement:
    """Places of a kernel's registers."""
    return Placement(config, rows_per_warp(config, REGISTERS))


def instruction(rng: random.Random, addresses: Placement) -> Stimulus:
    """Random fields of the issue port; sources from few registers, so that they repeat and meet in banks."""
    config = addresses.config
    fields = {name: rng.getrandbits(bits) for name, bits in issue_fields(config)}
    reads = rng.getrandbits(3)
    few = rng.sample(range(REGISTERS), rng.randint(1, 4))
    sources = [rng.choice(few) for _ in range(3)]
    imm_slot = rng.choice([slot for slot in range(3) if not reads >> slot & 1] + [NO_SLOT])
    fields |= {"warp": rng.randrange(config.warps), "reads": reads, "imm_slot": imm_slot,
               **{f"src{slot}": register for slot, register in enumerate(sources)}}
    return {
        "instruction__issue": fields,
        "instruction__address": {
            **{str(slot): shown(config, addresses[fields["warp"] << 8 | source])
               for slot, source in enumerate(sources)},
            "3": {"bank": rng.randrange(config.banks), "row": rng.randrange(config.rows), "left": rng.getrandbits(1)},
        },
    }


def planned(config: SmConfig, stimuli: Iterable[Stimulus]) -> Iterator[Stimulus]:
    """The stimuli with the plan of each instruction that is taken."""
    for stimulus in stimuli:
        yield {**stimulus, "plan": _plan(config, stimulus) if stimulus.get("take") else 0}


def _plan(config: SmConfig, stimulus: Stimulus) -> Stimulus:
    """As `warploom.rtl.operands.plan` describes it."""
    issue, addresses = stimulus["instruction__issue"], stimulus["instruction__address"]
    reads = [bool(issue["reads"] >> slot & 1) for slot in range(3)]
    repeats = [mask_of(reads[slot] and reads[lower] and issue[f"src{slot}"] == issue[f"src{lower}"]
                       for lower in range(slot)) for slot in range(3)]
    immediate = [slot == issue["imm_slot"] for slot in range(3)]
    requests = [(addresses[str(slot)]["bank"], _side(stimulus, slot)) if reads[slot] and not repeats[slot] else None
                for slot in range(3)]
    nonzero = [chosen and issue["imm"] != 0 for chosen in immediate]
    filled = nonzero if config.has_zero_mask else [not read for read in reads]
    return {
        "requests": {str(bank): {str(side): mask_of(request == (bank, side) for request in requests)
                                 for side in range(len(SIDES) if config.has_sides else 1)}
                     for bank in range(config.banks)},
        **({"parts": {str(slot): _encoding(stimulus, slot).mask for slot in range(3)}} if config.has_sides else {}),
        "repeats": {str(slot): repeat for slot, repeat in enumerate(repeats)},
        "constant": mask_of(not read for read in reads),
        "immediate": mask_of(immediate),
        **({"nonzero": mask_of(nonzero)} if config.has_zero_mask else {}),
        **({"fills": {str(slot): fills * _columns(config, issue["lanes"]) for slot, fills in enumerate(filled)}}
           if config.gates_columns else {}),
    }


def _columns(config: SmConfig, lanes: int) -> int:
    """The columns of a constant that lanes read: with sub-banks, each of a byte of four lanes."""
    if not config.has_sides:
        return lanes
    groups = mask_of(bool(lanes >> 4 * group & 0xF) for group in range(8))
    return sum(groups << 8 * sub_bank for sub_bank in range(4))


def _side(stimulus: Stimulus, slot: int) -> int:
    """The access of its bank that reads the register of a slot."""
    return int(_encoding(stimulus, slot).left) if "instruction__early" in stimulus else 0


def _encoding(stimulus: Stimulus, slot: int) -> Encoding:
    return encoding_of(stimulus["instruction__early"][str(slot)])


def mask_of(bits: Iterable[bool]) -> int:
    """Bits, the first one lowest, as a mask."""
    return sum(bit << number for number, bit in enumerate(bits))


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Instructions, grants of what is requested, and dispatches of what is ready, each in bursts and pauses."""
    rng, addresses = source(), placement(ports.config)
    takes, grants, dispatches = (busy(rng, chance) for chance in (0.7, 0.6, 0.5))
    for _ in range(CYCLES):
        dispatched = next(dispatches) and ports.peek("offer__ready")
        requests = [bank for bank in range(ports.config.banks) if ports.peek("read__request") >> bank & 1]
        yield {
            "take": next(takes) and (not ports.peek("offer__busy") or (dispatched and not ports.config.turnaround)),
            **instruction(rng, addresses),
            "read__grant": 1 << rng.choice(requests) if bool(requests) and next(grants) else 0,
            "read__word": rng.getrandbits(WARP_BITS),
            "offer__dispatched": dispatched,
        }


class Slots(Protocol):
    """What a stored form adds to the checks of a collector."""

    model: Any

    def offers(self, seen: Observation) -> None:
        """Compare requests and rows."""

    def operands(self, seen: Observation) -> None:
        """Compare operands; the collector is ready."""

    def arrive(self, seen: Observation) -> None:
        """Words that were granted in the cycle before arrive."""

    def step(self, seen: Observation) -> int:
        """Offers are granted: so many."""

    def take(self, seen: Observation, fields: dict[str, Any]) -> Sequence[Metadata]:
        """The metadata of an instruction that is taken: of each slot and of the destination."""

    def known(self, seen: Observation, fields: dict[str, Any], metadata: Sequence[Metadata]) -> Sequence[Metadata]:
        """The same in the next cycle, with what the tables say late."""


class CollectorCheck:
    """State and instruction of a collector equal the model's, and so does how many columns it stored; it is granted
    once for each register that it reads. What follows from the stored form is checked by `slots`."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage, slots: Slots) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._slots, self._model, self._arrives_late = slots, slots.model, ports.config.arrival_delay
        self._taken: tuple[dict[str, Any], list[Address], Address, Sequence[Metadata]] | None = None
        self._columns = 0
        self._grants, self._registers = 0, 0

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the model through its end."""
        model, slots, equal = self._model, self._slots, self._checker.equal
        self._issue(seen)
        model.store()  # at the end of the cycle before, in which an instruction may have been taken
        if not self._arrives_late:
            slots.arrive(seen)
        for port, name in (("offer__busy", "busy"), ("waiting",) * 2, ("present",) * 2, ("offer__ready", "ready")):
            equal(name, seen[port], int(getattr(model, name)))
        equal("columns stored", self._columns, model.columns_stored)
        self._columns += seen["loads"].bit_count()
        slots.offers(seen)
        if model.ready:
            slots.operands(seen)
            for name, value in self._codecs["offer__held"].unpack(seen["offer__held"]).items():
                equal(f"held.{name}", value, int(model.fields[name]))
        self._properties(seen)
        if self._arrives_late:
            slots.arrive(seen)
        self._grants += slots.step(seen)
        if seen["offer__dispatched"]:
            model.release()
        if seen["take"]:
            self._take(seen)
            if seen["offer__dispatched"]:
                self._coverage.hit("taken as another one leaves")

    def _issue(self, seen: Observation) -> None:
        """The model takes the instruction of the cycle before, whose late metadata are here now."""
        if self._taken is not None:
            fields, sources, destination, metadata = self._taken
            known = self._slots.known(seen, fields, metadata)
            self._model.issue(fields, tuple(sources), destination, tuple(known))
        self._taken = None

    def _properties(self, seen: Observation) -> None:
        holds = self._checker.holds
        holds("no slot waits and is present", not seen["waiting"] & seen["present"])
        holds("a free collector requests nothing", bool(seen["offer__busy"]) or not seen["read__request"])
        if seen["offer__ready"]:
            self._checker.equal("grants of the instruction", self._grants, self._registers)

    def _take(self, seen: Observation) -> None:
        issue = self._codecs["instruction__issue"].unpack(seen["instruction__issue"])
        addresses = self._codecs["instruction__address"].unpack(seen["instruction__address"])
        *sources, destination = (Address(**address) for address in addresses.values())
        self._taken = issue, sources, destination, self._slots.take(seen, issue)
        read = [issue[f"src{slot}"] for slot in range(3) if issue["reads"] >> slot & 1]
        self._grants, self._registers = 0, len(set(read))
        self._coverage.hit("no registers", not read)
        self._coverage.hit("one register in all slots", len(read) == 3 and len(set(read)) == 1)
        self._coverage.hit("repeat of a later slot", issue["reads"] == 7 and read[1] == read[2] != read[0])
        self._coverage.hit("immediate", issue["imm_slot"] != NO_SLOT)


class WholeSlots:
    """Offers and operands of whole registers equal the model's."""

    def __init__(self, ports: Ports, checker: Checker) -> None:
        self.model = collectors_of(form_of(ports.config))(0)
        self._codecs, self._checker = ports.codecs, checker
        self._arriving: Read | None = None  # what was granted in the previous cycle

    def offers(self, seen: Observation) -> None:
        requests, rows = self.model.requests(), self._codecs["read__row"].array(seen["read__row"])
        self._checker.equal("request", seen["read__request"], sum(1 << bank for bank, _ in requests))
        for (bank, _), read in requests.items():
            self._checker.equal(f"row[{bank}]", rows[bank], read.address.row)

    def operands(self, seen: Observation) -> None:
        actual = tuple(self._codecs["offer__operands"].array(seen["offer__operands"]))
        self._checker.equal("operands", actual, self.model.operands())

    def arrive(self, seen: Observation) -> None:
        if self._arriving is not None:
            self.model.capture(self._arriving, seen["read__word"])
        self._arriving = None

    def step(self, seen: Observation) -> int:
        if not seen["read__grant"]:
            return 0
        self._arriving = self.model.requests()[seen["read__grant"].bit_length() - 1, 0]
        self.model.grant(self._arriving)
        return 1

    def take(self, seen: Observation, fields: dict[str, Any]) -> Sequence[Metadata]:
        return [None] * 4

    def known(self, seen: Observation, fields: dict[str, Any], metadata: Sequence[Metadata]) -> Sequence[Metadata]:
        return metadata


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, grants and dispatches."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    coverage = Coverage(*points(ports.config))
    check = CollectorCheck(ports, checker, coverage, WholeSlots(ports, checker))
    await exercise(ports, planned(ports.config, stimuli(ports)), check, checker)
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [["layout=wshift"], ["layout=wid"], FAST], ids=",".join)
def test_collector(settings: Sequence[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*settings])
    runner.run(runner.build(config, "Collector"), "warploom.tb.operands.test_collector", seed)
