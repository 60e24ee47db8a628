"""Bench of one set of the affine register file: hardware against `warploom.golden_model.affine.register_file`."""

import random
from collections.abc import Iterator
from typing import Any

import cocotb
import pytest

from warploom.arch.compact import STRIDE_BITS, Tag
from warploom.arch.config import SmConfig
from warploom.arch.layout import affine_address, resident_warps
from warploom.arch.mechanisms.baseline import PAIRS
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.compact import Compact
from warploom.tb import runner
from warploom.tb.affine.operands import random_compact
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

SLOTS = range(3)
CYCLES = 900
REGISTERS = (32, 128, *range(1, 32, 2))
"""Numbers of registers of a thread of launches: many, since the first entry of each warp is a multiple of it."""

ROWLESS = 6
"""Registers of a thread without a row, if there are such."""

Address = tuple[int, int]
"""A warp slot and a register of it."""


def addresses(config: SmConfig, registers: int) -> list[Address]:
    """All registers of the last set."""
    warps = range(config.schedulers - 1, resident_warps(config, registers), config.schedulers)
    return [(warp, register) for warp in warps for register in range(registers)]


def stimuli(config: SmConfig, rng: random.Random, registers: int) -> Iterator[Stimulus]:
    """Every register is named after reset; then those that were just written or forgotten are named more often. No
    register of a warp is named in the cycle in which one is written."""
    everything = addresses(config, registers)
    recent, compact = list(everything), set[Address]()
    named_registers = registers + (ROWLESS if config.has_unallocated else 0)
    yield {"registers": registers}  # the launch begins
    for cycle in range(CYCLES):
        named = _named(rng, rng.choice(recent[-4:]), recent, named_registers)
        if cycle < len(everything):
            named["warp"], named["dst"] = everything[cycle]
            named["src0"] = named["dst"]
        other = _named(rng, rng.choice(recent[-4:]), recent, registers)
        first = _first(rng, other, compact) if config.has_pairs else {}
        warps = {named["warp"], *([first["first"]["warp"]] if first else [])}
        others = [address for address in everything if address[0] not in warps]
        writes, forgets = bool(others) and rng.random() < 0.5, rng.random() < 0.2
        target, value = rng.choice(others or everything), random_compact(rng)
        forgotten = [(each["warp"], each["dst"]) for each, forgotten in (
            (named, forgets), (first.get("first", named), first.get("first_forget"))) if forgotten]
        written = [target] if writes else []
        recent += [address for address in (*written, *forgotten) if address[1] < registers]
        compact = compact.difference(forgotten).union(written)
        yield {"registers": registers, "named": named, "enable": rng.random() < 0.9, "forget": forgets, **first,
               "write": {"enable": writes, "entry": affine_address(config, registers, *target)[1],
                         "value": {"base": value.base, "stride": value.stride % (1 << STRIDE_BITS)}}}


def _named(rng: random.Random, destination: Address, recent: list[Address], registers: int) -> dict[str, int]:
    """The registers of an instruction."""
    warp, dst = destination
    return {"warp": warp, "dst": dst if rng.random() < 0.9 else rng.randrange(registers),
            "reads": rng.choice((7, 7, rng.randrange(8))),
            **{f"src{slot}": rng.choice([*_near(recent, warp), rng.randrange(registers)]) for slot in SLOTS}}


def _first(rng: random.Random, named: dict[str, int], compact: set[Address]) -> dict[str, Any]:
    """The first of a pair, with its compact slots; what is not valid is random."""
    valid = rng.random() < 0.5
    slots = sum((named["reads"] >> slot & 1 and (named["warp"], named[f"src{slot}"]) in compact) << slot
                for slot in SLOTS)
    return {"first": named, "first_valid": valid, "first_compact": slots if valid else rng.randrange(8),
            "first_forget": valid and rng.random() < 0.3}


def _near(recent: list[Address], warp: int) -> list[int]:
    return [register for other, register in recent[-8:] if other == warp]


class RegisterFileCheck:
    """What is compact, and entries, of this cycle, and values of the registers named in the previous one, equal the
    model's; a register that was never written is generic. If the first of a pair has compact slots, values are those of
    these slots."""

    def __init__(self, ports: Ports, registers: int, checker: Checker, coverage: Coverage) -> None:
        self._config, self._codecs, self._checker, self._coverage = ports.config, ports.codecs, checker, coverage
        self._registers = registers
        self._model = AffineRegisterFile(ports.config, registers)
        self._addresses = {affine_address(ports.config, registers, *address)[1]: address
                        for address in addresses(ports.config, registers)}
        self._written: set[Address] = set()
        self._just: set[Address] = set()
        self._values: list[Compact | None] = [None] * len(SLOTS)

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then write."""
        named = self._codecs["named"].unpack(seen["named"])
        warp = named["warp"]
        values, entries = (self._codecs[name].unpack(seen[name]) for name in ("values", "entries"))
        for slot, expected in enumerate(self._values):
            if expected is not None:
                wanted = {"base": expected.base, "stride": expected.stride % (1 << STRIDE_BITS)}
                self._checker.equal(f"value of slot {slot}", values[str(slot)], wanted)
        for slot in SLOTS:
            address = warp, named[f"src{slot}"]
            tag = self._model.tag(*address)
            self._checker.equal(f"slot {slot} is compact", seen["compact"] >> slot & 1, int(tag is not Tag.GENERIC))
            if address[1] < self._registers:
                entry = affine_address(self._config, self._registers, *address)[1]
                self._checker.equal(f"entry of slot {slot}", entries[str(slot)], entry)
            self._coverage.hit(tag.name)
            self._coverage.hit("after reset", address not in self._written)
            self._coverage.hit("the cycle after a change", address in self._just)
        if named["dst"] < self._registers:
            entry = affine_address(self._config, self._registers, warp, named["dst"])[1]
            self._checker.equal("entry", seen["entry"], entry)
        self._values = [self._model.read(warp, named[f"src{slot}"])
                        if seen["enable"] and named["reads"] >> slot & 1 else None for slot in SLOTS]
        forgotten = [(warp, named["dst"])] if seen["forget"] else []
        if self._config.has_pairs:
            forgotten += self._look_up_first(seen)
        self._end(forgotten, seen)

    def _look_up_first(self, seen: Observation) -> list[Address]:
        """The values of the first of a pair. Returns its destination if that is forgotten."""
        first = self._codecs["first"].unpack(seen["first"])
        if seen["first_valid"] and seen["first_compact"]:
            self._coverage.hit("values of the first of a pair")
            self._values = [self._model.read(first["warp"], first[f"src{slot}"])
                            if seen["first_compact"] >> slot & 1 else None for slot in SLOTS]
        self._coverage.hit("both of a pair forget", seen["first_forget"] and seen["forget"])
        return [(first["warp"], first["dst"])] if seen["first_forget"] else []

    def _end(self, forgotten: list[Address], seen: Observation) -> None:
        """The changes at the end of the cycle."""
        write = self._codecs["write"].unpack(seen["write"])
        self._just = set()
        for destination in forgotten:
            self._coverage.hit("forgotten", self._model.read(*destination) is not None)
            self._model.make_generic(*destination)
            self._just.add(destination)
        if write["enable"]:
            address, value = self._addresses[write["entry"]], write["value"]
            stride = value["stride"] - (value["stride"] >> STRIDE_BITS - 1 << STRIDE_BITS)
            self._model.write(*address, Compact(value["base"], stride))
            self._just.add(address)
            self._written.add(address)
        self._coverage.hit("a write and a forgotten register", write["enable"] and forgotten)


@cocotb.test()
async def random_registers(dut: cocotb.handle.SimHandleBase) -> None:
    """Every register, for several numbers of registers of a thread."""
    ports = Ports(dut)
    rng = source()
    coverage = Coverage(*(tag.name for tag in Tag), "after reset", "the cycle after a change", "forgotten",
                        "a write and a forgotten register",
                        *(("values of the first of a pair", "both of a pair forget") if ports.config.has_pairs else ()))
    for registers in REGISTERS:
        checker = Checker(minimum=4 * CYCLES)
        await exercise(ports, stimuli(ports.config, rng, registers),
                       RegisterFileCheck(ports, registers, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    ["affine=a", *PAIRS], ["affine=a", "bypass=bow_hints", "window=2", "entries=8", "transient=on"],
    pytest.param(["affine=a", "schedulers=2"], marks=pytest.mark.long),
], ids=" ".join)
def test_affine_register_file(settings: list[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(settings), "AffineRegisterFile")
    runner.run(made, "warploom.tb.affine.test_register_file", seed)
