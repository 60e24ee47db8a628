"""Bench of one set of the affine register file: hardware against `warploom.golden_model.affine.register_file`."""

import random
from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import STRIDE_BITS, Tag
from warploom.arch.layout import affine_address, resident_warps
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.compact import Compact
from warploom.tb import runner
from warploom.tb.affine.operands import random_compact
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

SLOTS = range(3)
CYCLES = 5000
REGISTERS = (32, 11, 1)
"""Numbers of registers of a thread that launches may have."""

Address = tuple[int, int]
"""A warp slot and a register of it."""


def addresses(config: SmConfig, registers: int) -> list[Address]:
    """All registers of the last set."""
    warps = range(config.schedulers - 1, resident_warps(config, registers), config.schedulers)
    return [(warp, register) for warp in warps for register in range(registers)]


def stimuli(config: SmConfig, rng: random.Random, registers: int) -> Iterator[Stimulus]:
    """Every register is named after reset; then those that were just written or forgotten are named more often. A
    register is not named in the cycle in which it is written."""
    everything = addresses(config, registers)
    recent = list(everything)
    yield {"registers": registers}  # the launch begins
    for cycle in range(CYCLES):
        warp, dst = everything[cycle] if cycle < len(everything) else rng.choice(recent[-4:])
        named = {"warp": warp, "dst": dst, "reads": rng.choice((7, 7, rng.randrange(8)))}
        named |= {f"src{slot}": rng.choice([*_near(recent, warp), rng.randrange(registers)]) for slot in SLOTS}
        named["src0"] = dst if cycle < len(everything) else named["src0"]
        others = [address for address in everything if address[0] != warp]
        writes, forgets = bool(others) and rng.random() < 0.5, rng.random() < 0.2
        target = rng.choice(others or everything)
        value = random_compact(rng)
        if writes:
            recent.append(target)
        if forgets:
            recent.append((warp, dst))
        yield {"registers": registers, "named": named, "enable": rng.random() < 0.9, "forget": forgets,
               "write": {"enable": writes, "entry": affine_address(config, registers, *target)[1],
                         "value": {"base": value.base, "stride": value.stride % (1 << STRIDE_BITS)}}}


def _near(recent: list[Address], warp: int) -> list[int]:
    return [register for other, register in recent[-8:] if other == warp]


class RegisterFileCheck:
    """What is compact, and entries, of this cycle, and values of the registers named in the previous one, equal the
    model's; a register that was never written is generic."""

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
            entry = affine_address(self._config, self._registers, *address)[1]
            self._checker.equal(f"entry of slot {slot}", entries[str(slot)], entry)
            self._coverage.hit(tag.name)
            self._coverage.hit("after reset", address not in self._written)
            self._coverage.hit("the cycle after a change", address in self._just)
        entry = affine_address(self._config, self._registers, warp, named["dst"])[1]
        self._checker.equal("entry", seen["entry"], entry)
        self._values = [self._model.read(warp, named[f"src{slot}"])
                        if seen["enable"] and named["reads"] >> slot & 1 else None for slot in SLOTS]
        self._end((warp, named["dst"]), seen)

    def _end(self, destination: Address, seen: Observation) -> None:
        """The changes at the end of the cycle."""
        write = self._codecs["write"].unpack(seen["write"])
        self._just = set()
        if seen["forget"]:
            self._coverage.hit("forgotten", self._model.read(*destination) is not None)
            self._model.make_generic(*destination)
            self._just.add(destination)
        if write["enable"]:
            address, value = self._addresses[write["entry"]], write["value"]
            stride = value["stride"] - (value["stride"] >> STRIDE_BITS - 1 << STRIDE_BITS)
            self._model.write(*address, Compact(value["base"], stride))
            self._just.add(address)
            self._written.add(address)
        self._coverage.hit("a write and a forgotten register", len(self._just) == 2)


@cocotb.test()
async def random_registers(dut: cocotb.handle.SimHandleBase) -> None:
    """Every register, for several numbers of registers of a thread."""
    ports = Ports(dut)
    rng = source()
    coverage = Coverage(*(tag.name for tag in Tag), "after reset", "the cycle after a change", "forgotten",
                        "a write and a forgotten register")
    for registers in REGISTERS:
        checker = Checker(minimum=4 * CYCLES)
        await exercise(ports, stimuli(ports.config, rng, registers),
                       RegisterFileCheck(ports, registers, checker, coverage), checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [["affine=a"], ["affine=a", "schedulers=2"]], ids=" ".join)
def test_affine_register_file(settings: list[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(settings), "AffineRegisterFile")
    runner.run(made, "warploom.tb.affine.test_register_file", seed)
