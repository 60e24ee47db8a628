"""Bench of the coalescing collector: hardware against its model, and the example of [RADAIDEH], section 3.6.2.7."""

from collections.abc import Iterator, Sequence
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.fields import unpack
from warploom.arch.interfaces import ENCODING_FIELDS, SIDES, WARP_BITS, issue_fields
from warploom.arch.isa import NO_SLOT
from warploom.arch.mechanisms import Alignment
from warploom.arch.mechanisms.baseline import FAST
from warploom.golden_model.byte_order import from_sub_banks
from warploom.golden_model.operands.collector import Collector, asking_of
from warploom.golden_model.placement import Address
from warploom.golden_model.register_file.forms import NO_REGISTER
from warploom.golden_model.register_file.ports import Metadata, Port, Read
from warploom.golden_model.register_file.shared import SharedFile
from warploom.golden_model.register_file.width import Encoding, restore
from warploom.tb import runner
from warploom.tb.addresses import shown
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.narrow_values import encoding, encoding_of
from warploom.tb.operands.test_collector import CYCLES, CollectorCheck, instruction, placement, planned, points

SLICE_BITS = WARP_BITS // SUB_BANKS
SLICE = (1 << SLICE_BITS) - 1

COALESCED = ("two operands of one bank", "two operands of two banks", "both sides of a bank offered", "narrow repeat",
             "masks meet")


def fields_of(encoding: Encoding) -> dict[str, int]:
    """An encoding as the fields of a port."""
    return unpack(ENCODING_FIELDS, encoding.packed)


def requests(ports: Ports, request: int) -> list[tuple[int, int]]:
    """Bit and mask of each request."""
    masks = [(bit, ports.peek("read__mask") >> SUB_BANKS * bit & 15) for bit in range(len(SIDES) * ports.config.banks)]
    return [(bit, mask) for bit, mask in masks if request >> bit & 1]


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Instructions on registers of random encodings, grants whose masks do not meet, and dispatches of what is
    ready."""
    rng, config, addresses = source(), ports.config, placement(ports.config)
    takes, grants, dispatches = (busy(rng, chance) for chance in (0.7, 0.6, 0.5))
    for _ in range(CYCLES):
        dispatched = next(dispatches) and ports.peek("offer__ready")
        offered = requests(ports, ports.peek("read__request"))
        rng.shuffle(offered)
        granted = used = 0
        for bit, mask in offered:
            if not mask & used and next(grants):
                granted, used = granted | 1 << bit, used | mask
        issued = instruction(rng, addresses)
        encodings: dict[str, Encoding] = {}  # by slot
        stored: dict[str, tuple[int, Encoding]] = {}  # by slot: another bank, in which sides may meet, and the encoding
        for slot, address in issued["instruction__address"].items():
            chosen = encoding(rng)
            if slot == "3":  # the destination
                encodings[slot] = chosen
                continue
            if config.alignment is Alignment.REG:
                chosen = chosen._replace(left=address["left"])
            address["bank"], encodings[slot] = stored.setdefault(str(address), (rng.randrange(config.banks), chosen))
        yield {
            "take": next(takes) and (not ports.peek("offer__busy") or (dispatched and not config.turnaround)), **issued,
            "instruction__early": {slot: fields_of(chosen) for slot, chosen in encodings.items()},
            "read__grant": granted, "read__word": rng.getrandbits(WARP_BITS),
            "offer__dispatched": dispatched,
        }


class CoalescedSlots:
    """Offers, encodings and operands equal the model's; a slice changes only when its own operand arrives."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._form = SharedFile(ports.config).form
        self.model = Collector(self._form, asking_of(self._form), 0)
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._arriving: list[Read] = []  # granted in the previous cycle
        self._may_change = [15] * 3  # slices of each slot that may differ from those of the previous cycle
        self._words = [0] * 3

    def offers(self, seen: Observation) -> None:
        requests = self.model.requests()
        self._checker.equal("request", seen["read__request"], sum(1 << _bit(port) for port in requests))
        rows = self._codecs["read__row"].unpack(seen["read__row"])
        masks = self._codecs["read__mask"].unpack(seen["read__mask"])
        for (bank, side), read in requests.items():
            self._checker.equal(f"row of slot {read.key}", rows[str(bank)][str(side)], read.address.row)
            self._checker.equal(f"mask of slot {read.key}", masks[str(bank)][str(side)], self._encoding(read).mask)
        self._only_granted_slices_change(seen)
        banks = [bank for bank, _ in requests]
        self._coverage.hit("both sides of a bank offered", len(banks) > len(set(banks)))

    def _only_granted_slices_change(self, seen: Observation) -> None:
        words = self._codecs["offer__operands"].array(seen["offer__operands"])
        for slot, (before, after, mask) in enumerate(zip(self._words, words, self._may_change, strict=True)):
            changed = before ^ after
            kept = [not changed >> SLICE_BITS * k & SLICE for k in range(SUB_BANKS) if not mask >> k & 1]
            self._checker.holds(f"slices of slot {slot} outside the mask stay", all(kept))
        self._words, self._may_change = words, [0] * 3

    def operands(self, seen: Observation) -> None:
        encodings = self._codecs["offer__early"].unpack(seen["offer__early"])
        actual = [encoding_of(fields) for fields in encodings.values()]
        expected = [self._form.encoding(metadata) for metadata in self.model.metadata]
        self._checker.equal("encodings", actual, expected)
        words = self._codecs["offer__operands"].array(seen["offer__operands"])
        restored = tuple(restore(from_sub_banks(word, encoding.left), encoding)
                         for word, encoding in zip(words, expected, strict=True))
        self._checker.equal("operands", restored, self.model.operands())

    def _encoding(self, read: Read) -> Encoding:
        return self._form.encoding(read.metadata)

    def arrive(self, seen: Observation) -> None:
        model, present = self.model, self.model.present
        for read in self._arriving:
            model.capture(read, from_sub_banks(seen["read__word"], self._encoding(read).left))
        for slot in range(3):
            if (model.present & ~present) >> slot & 1:
                self._may_change[slot] |= self._form.encoding(model.metadata[slot]).mask
        self._arriving = []

    def step(self, seen: Observation) -> int:
        model = self.model
        requests = model.requests()
        granted = [read for port, read in requests.items() if seen["read__grant"] >> _bit(port) & 1]
        self._coverage.hit("masks meet", any(self._encoding(other).mask & self._encoding(read).mask
                                             for other in requests.values() for read in granted
                                             if other not in granted))
        for read in granted:
            model.grant(read)
        self._arriving = granted
        banks = {read.address.bank for read in granted}
        self._coverage.hit("two operands of one bank", len(granted) == 2 and len(banks) == 1)
        self._coverage.hit("two operands of two banks", len(granted) == 2 and len(banks) == 2)
        return len(granted)

    def take(self, seen: Observation, fields: dict[str, Any]) -> Sequence[Metadata]:
        encodings = self._codecs["instruction__early"].unpack(seen["instruction__early"])
        read = [encoding_of(encodings[str(slot)]) if fields["reads"] >> slot & 1 else NO_REGISTER for slot in range(3)]
        self._may_change = [15] * 3
        self._coverage.hit("narrow repeat", fields["reads"] == 7 and fields["src1"] == fields["src2"]
                           and read[1].width < SUB_BANKS)
        return [*read, encoding_of(encodings["3"])]

    def known(self, seen: Observation, fields: dict[str, Any], metadata: Sequence[Metadata]) -> Sequence[Metadata]:
        return metadata


def _bit(port: Port) -> int:
    """Address of a bank and side in request and grant."""
    bank, side = port
    return len(SIDES) * bank + side


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, encodings, grants and dispatches."""
    ports, checker = Ports(dut), Checker(minimum=6 * CYCLES)
    coverage = Coverage(*points(ports.config), *COALESCED)
    tried = planned(ports.config, stimuli(ports))
    check = CollectorCheck(ports, checker, coverage, CoalescedSlots(ports, checker, coverage))
    await exercise(ports, tried, check, checker)
    coverage.finish()


@cocotb.test()
async def section_3_6_2_7(dut: cocotb.handle.SimHandleBase) -> None:
    """R0 of bank 0, mask 0001, and R1 of bank 1, mask 1100, arrive together: port 0 stores R0, ports 2 and 3 R1."""
    ports = Ports(dut)
    checker, word = Checker(minimum=5), source().getrandbits(WARP_BITS)
    encodings = [Encoding(1, 0, False), Encoding(2, 0, True), NO_REGISTER]
    fields = dict.fromkeys((name for name, _ in issue_fields(ports.config)), 0)
    addresses = [Address(0, 5, False), Address(1, 6, True), Address(0, 0, False)]
    take = {
        "take": 1, "instruction__issue": fields | {"reads": 0b011, "src1": 1, "imm_slot": NO_SLOT},
        "instruction__address": {str(slot): shown(ports.config, address) for slot, address in enumerate(addresses)},
        "instruction__early": {str(slot): fields_of(encoding) for slot, encoding in enumerate(encodings)},
    }
    both = 1 << _bit((0, 0)) | 1 << _bit((1, 1))

    def check(seen: Observation) -> None:
        checker.equal("request", seen["read__request"], both if checker.cycle == 1 else 0)
        checker.equal("ready", seen["offer__ready"], int(checker.cycle == 3))
        if checker.cycle == 3:
            first, second, _ = ports.codecs["offer__operands"].array(seen["offer__operands"])
            checker.equal("R0", first & SLICE, word & SLICE)
            checker.equal("R1", second >> 2 * SLICE_BITS, word >> 2 * SLICE_BITS)

    cycles = planned(ports.config, [take, {"read__grant": both}, {"read__word": word}, {}])
    await exercise(ports, cycles, check, checker, partial=True)


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [["alignment=reg"], ["alignment=write"], FAST], ids=",".join)
def test_collector(settings: Sequence[str], seed: int) -> None:
    run(settings, "random_instructions", seed)


@pytest.mark.rtl
def test_000_section_3_6_2_7(seed: int) -> None:
    run(["alignment=reg"], "section_3_6_2_7", seed)


def run(settings: Sequence[str], testcase: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["coalescing=on", *settings])
    made = runner.build(config, "Collector")
    runner.run(made, "warploom.tb.coalescing.test_collector", seed, testcase=testcase)
