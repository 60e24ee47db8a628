"""Property of the gated register files: values that become zero, or no longer are, are read as they were written.

The reference is 32 values for each register. Zero masks are visible only at the dispatch port: in the metadata of an
instruction's destination, which is used for coverage, and in the outcomes of lanes, which the results obey.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_

import cocotb
import pytest

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import Outcome
from warploom.arch.isa import Instruction, Pipe
from warploom.arch.mechanisms import Gating, cores
from warploom.golden_model.functional.operations import Operands, evaluate
from warploom.golden_model.trivial import promised
from warploom.golden_model.words import ALL_LANES, join, split, spread
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Ports, exercise, source
from warploom.tb.codec import Codec
from warploom.tb.outside import to_lanes, to_word
from warploom.tb.register_program import WRITES, Draft, Flight, Key, OperandCheck, Program, points
from warploom.tb.test_datapath import for_each
from warploom.tb.zero_values import outcome_bits, zero_rich

KINDS = ("full", "partial, whole group", "partial, part of a group")
"""Kinds of writes of a group of lanes."""

CHANGES = ("becomes zero", "is no longer zero")

OUTCOMES = tuple(f"outcome {outcome.name}" for outcome in Outcome if outcome is not Outcome.COMPUTE)

UNREAD = (None, [0] * LANES, ALL_LANES)
"""The operand of a slot that reads no register."""

GROUPS = LANES // GROUP
ALL_OF_GROUP = (1 << GROUP) - 1


def reorders(config: SmConfig) -> bool:
    """Whether the register file has R-bits."""
    return config.zeros_by_granule and not config.has_sides


def transition(kind: str, change: str, old: int | None = None, new: int | None = None) -> str:
    """Name of the coverage point: a granule (of a lane with `Gating.IN_LANE`) changes in a write of a kind, in a group
    with these R-bits."""
    return f"{kind}: {change}" + ("" if old is None else f", R {old} to {new}")


def transitions(config: SmConfig) -> Iterator[str]:
    """All possible transitions. A group keeps its R-bit if some of its lanes keep their values."""
    for kind, change in itertools.product(KINDS, CHANGES):
        if not reorders(config):
            yield transition(kind, change)
            continue
        for old, new in itertools.product(range(2), repeat=2):
            if kind != KINDS[2] or old == new:
                yield transition(kind, change, old, new)


def zeros(values: Sequence[int], gating: Gating) -> list[bool]:
    """The zeros in a group, by lane or by granule."""
    if gating is Gating.IN_LANE:
        return [not value for value in values]
    return [not any(value >> 8 * byte & 0xFF for value in values) for byte in range(4)]


class ZeroRichProgram(Program):
    """Writes many zeros; results of units outside obey the outcomes at the dispatch port."""

    def __init__(self, ports: Ports, rng: random.Random, coverage: Coverage) -> None:
        super().__init__(ports, rng, coverage)
        self._codec, self._reorders = ports.codecs["dispatch__payload"], reorders(ports.config)
        self._before: dict[Key, tuple[list[int], int]] = {}  # values and defined lanes before the last write
        self._happened: dict[Key, list[tuple[int, str, str, int]]] = {}  # in it: group, kind, change, R-bit before

    def _draft(self, key: Key) -> Draft | None:
        values = zero_rich(self._rng)
        return Draft(self._rng.random() < 0.4, lambda lanes: values) if self._rng.random() < 0.9 else None

    def _some(self, live: int) -> int:
        whole = sum(ALL_OF_GROUP << GROUP * group for group in range(GROUPS) if self._rng.random() < 0.5) & live
        return whole if whole not in (0, live) and self._rng.random() < 0.5 else super()._some(live)

    def _write(self, key: Key, data: list[int], lanes: int, full: bool) -> None:
        register = self._registers[key]
        self._before[key] = register.values, register.defined
        super()._write(key, data, lanes, full)

    def _answer(self, flight: Flight, payload: int) -> list[int]:
        data = list(flight.data)
        for outcome, lanes in promised(self._codec.field(payload, "trivial")):
            self._coverage.hit(f"outcome {outcome.name}")
            word = [0] * LANES if outcome is Outcome.ZERO else split(self._operand(payload, outcome))
            data = [word[lane] if lanes >> lane & 1 else value for lane, value in enumerate(data)]
        if flight.target is not None:
            register = self._registers[flight.target]
            register.values = [data[lane] if flight.lanes >> lane & 1 else value
                               for lane, value in enumerate(register.values)]
            self._cover(flight.target, flight.lanes, payload)
        return data

    def _operand(self, payload: int, outcome: Outcome) -> int:
        return self._codec.field(payload, "abc"[outcome - Outcome.A])

    def _cover(self, key: Key, lanes: int, payload: int) -> None:
        """The old R-bits of this write are the new ones of the last write, whose transitions are now complete."""
        reorder = self._codec.field(payload, "reorder") if self._reorders else 0
        for group, kind, change, old in self._happened.get(key, ()):
            bits = (old, reorder >> group & 1) if self._reorders else ()
            self._coverage.hit(transition(kind, change, *bits))
        full = self._codec.field(payload, "full")
        self._happened[key] = [
            (group, KINDS[0] if full else KINDS[1 + (executing != ALL_OF_GROUP)], change, reorder >> group & 1)
            for group in range(GROUPS) if (executing := lanes >> GROUP * group & ALL_OF_GROUP)
            for change in self._changes(key, group)
        ]

    def _changes(self, key: Key, group: int) -> set[str]:
        """The changes by a write in a group of lanes that are all defined, before and after."""
        (before, defined), register = self._before[key], self._registers[key]
        if ~(defined & register.defined) >> GROUP * group & ALL_OF_GROUP:
            return set()
        lanes = slice(GROUP * group, GROUP * (group + 1))
        was, is_ = (zeros(values[lanes], self._config.gating) for values in (before, register.values))
        return {CHANGES[old] for old, new in zip(was, is_, strict=True) if old != new}


class GatedCheck(OperandCheck):
    """Also checks that outcomes equal the operation's results for the written values."""

    def _sent(self, codec: Codec, word: int) -> None:
        super()._sent(codec, word)
        flight, trivial = self._program.flights[codec.field(word, "tag")], codec.field(word, "trivial")
        able = outcome_bits(flight.lanes) if Instruction(op=flight.op).pipe is Pipe.SP else 0
        self._checker.equal("outcomes of lanes that compute nothing", trivial & ~able, 0)
        if trivial & able:
            self._outcomes(flight, trivial)

    def _outcomes(self, flight: Flight, trivial: int) -> None:
        slots = [flight.operands.get(slot, UNREAD) for slot in range(3)]
        words = [join(values) for _, values, _ in slots]
        defined = reduce(and_, (lanes for _, _, lanes in slots))
        a, b, c = map(to_lanes, words)
        result = evaluate(Instruction(op=flight.op), Operands(a, b, c)).result
        assert result is not None
        for outcome, lanes in promised(trivial):
            promise = 0 if outcome is Outcome.ZERO else words[outcome - Outcome.A]
            wrong = (to_word(result) ^ promise) & spread(lanes & defined)
            self._checker.equal(f"bits that {flight.op.name} differs in from outcome {outcome.name}", wrong, 0)


@cocotb.test()
async def writes_and_reads(dut: cocotb.handle.SimHandleBase) -> None:
    """Random writes and reads; every lane or granule becomes zero, and stops being zero, in every way."""
    ports, checker = Ports(dut), Checker(minimum=15 * WRITES)
    coverage = Coverage(*points(ports.config), *OUTCOMES, *transitions(ports.config))
    program = ZeroRichProgram(ports, source(), coverage)
    await exercise(ports, program.stimuli(), GatedCheck(ports, program, checker), checker, partial=True)
    checker.holds("enough was written", program.writes >= WRITES)
    checker.finish()
    coverage.finish()


@pytest.mark.rtl
@for_each(["in_lane", "cross_lane", "in_lane write", "cross_lane reg"])
def test_register_file(core: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*cores()[core]])
    runner.run(runner.build(config, "Datapath"), "warploom.tb.gating.test_register_file", seed)
