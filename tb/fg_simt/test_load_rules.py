"""Bench of the rules of uniform and vector loads: hardware against `warploom.golden_model.fg_simt.load_rules`."""

import random
from collections.abc import Iterator
from typing import Any

import cocotb
import pytest

from warploom.arch.config import LANES, SmConfig
from warploom.arch.fg_simt.image import HIGH_WORDS, LaunchBlock
from warploom.arch.isa import PT, Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.host import extended_word
from warploom.golden_model.fg_simt.load_rules import is_uniform, is_vector, uniform_address
from warploom.golden_model.fg_simt.memory import Answer
from warploom.golden_model.fg_simt.micro import ZERO, Operand, Predicate, Register
from warploom.golden_model.fg_simt.micro_bits import operand_fields, operand_of
from warploom.rtl.fg_simt.address import NAMES, READ_ONLY, WINDOWS
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.fg_simt.test_address import FIELDS, window

BENCH = "warploom.tb.fg_simt.test_load_rules"
LOADS, CYCLES = 5000, 4
"""Loads, and cycles of each."""

TOP = 1 << 32

POINTS = (*(f"{kind} load of {access.name}" for kind in ("uniform", "vector") for access in Access),
          "last legal byte", "first byte behind", "misaligned uniform address", "affine address of constants",
          "high word counts", "extended", "ends at the top", "ends behind the top", "wraps", "stride of another size",
          "affine high word", "generic address", "generic guard", "uniform address of global memory", "store",
          "word is not there", "illegal uniform address")


def stimuli() -> Iterator[Stimulus]:
    """Loads with legal and illegal addresses, many of them at the ends of their space."""
    rng = source()
    for _ in range(LOADS):
        windows = {NAMES[space]: window(rng, space) for space in WINDOWS}
        space = rng.choice((*READ_ONLY, Space.GLOBAL, Space.GLOBAL, rng.choice(list(Space))))
        offset = rng.choice((0, 4, 64, TOP - 4, rng.getrandbits(32)))
        i = Instruction(op=Op.LD, space=space, access=rng.choice(list(Access)), wide=rng.random() < 0.6, imm=offset)
        guard = rng.choice((PT, PT, PT, rng.randrange(PT)))
        operands = _vector(rng, i, offset) if space is Space.GLOBAL else _uniform(rng, i, offset, windows)
        if rng.random() < 0.05:
            operands[rng.randrange(2)] = Register(rng.randrange(32))
        operands.append(ZERO)
        uniform = sum((isinstance(one, Compact) and not one.stride) << slot for slot, one in enumerate(operands))
        load = {"valid": rng.random() < 0.95, "access": i.access, "log_size": i.access.size.bit_length() - 1,
                "space": i.space, "wide": i.wide}
        for _ in range(CYCLES):
            yield {"load": load, "offset": offset, "windows": windows, "uniform": uniform,
                   "operands": {str(slot): operand_fields(one) for slot, one in enumerate(operands)},
                   "guard": {"number": guard, "inverted": rng.getrandbits(1)}, "word": rng.getrandbits(32),
                   "hit": rng.getrandbits(1)}


def _uniform(rng: random.Random, i: Instruction, offset: int, windows: dict[str, dict[str, int]]) -> list[Operand]:
    """Address words at the end of a window, or anywhere in it."""
    size = windows[NAMES[i.space]]["size"] if i.space in NAMES else rng.getrandbits(16)
    end = size - i.access.size
    start = rng.choice((end, end & -i.access.size, end + 1, rng.getrandbits(4), rng.randrange(size + 1), -1)) - offset
    high = rng.choice((0, WINDOWS.get(i.space, 0) >> 32, rng.getrandbits(32)))
    return [Compact(start % TOP, int(rng.random() < 0.1)), Compact(high, int(rng.random() < 0.05))]


def _vector(rng: random.Random, i: Instruction, offset: int) -> list[Operand]:
    """Address words of consecutive elements, many at the top of the address space."""
    span = LANES * i.access.size
    start = rng.choice((rng.getrandbits(32), TOP - span + rng.randrange(-2, 3), TOP - rng.randrange(1, span + 1)))
    stride = i.access.size if rng.random() < 0.9 else rng.choice((0, 1, 2, 4, -i.access.size, 8))
    return [Compact((start - offset) % TOP, stride), Compact(rng.choice((*HIGH_WORDS, 0)), int(rng.random() < 0.05))]


class LoadCheck:
    """Decisions equal the model's; so do address and word of a uniform load. Without the model: the elements of a
    vector load are one behind the other."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._cycle = 0  # of the load
        self._found: int | None = None  # its word, if the cache has it

    def __call__(self, seen: Observation) -> None:
        """Check one cycle of a load."""
        load: dict[str, Any] = self._codecs["load"].unpack(seen["load"])
        i = Instruction(op=Op.LD if load["valid"] else Op.ST, access=Access(load["access"]), space=Space(load["space"]),
                        wide=bool(load["wide"]), imm=seen["offset"])
        fields: dict[str, Any] = self._codecs["operands"].unpack(seen["operands"])
        low, high = (_slot(operand_of(fields[slot])) for slot in "01")
        self._check_vector(seen, i, low, high)
        is_late = i.op is Op.LD and is_uniform(i, low, high)
        self._checker.equal(f"{i} is uniform", seen["late"], int(is_late))
        block = self._block(seen)
        address = uniform_address(i, low, high, block) if is_late and low is not None and high is not None else None
        if self._cycle == CYCLES - 2:
            if address is not None:
                self._checker.equal(f"number of {i}", seen["number"], address >> 2)
            self._found = seen["word"] if seen["hit"] else None
        elif self._cycle == CYCLES - 1:
            self._check_word(seen, i, address)
            self._cover_uniform(i, low, high, block, address)
            self._coverage.hit("illegal uniform address", is_late and address is None)
        self._cycle = (self._cycle + 1) % CYCLES

    def _check_word(self, seen: Observation, i: Instruction, address: int | None) -> None:
        """The fourth cycle."""
        loaded, found = self._codecs["loaded"].unpack(seen["loaded"]), self._found
        self._checker.equal(f"{i} is loaded", loaded["valid"], int(address is not None and found is not None))
        self._checker.equal(f"{i} misses", seen["misses"], int(address is not None and found is None))
        self._coverage.hit("word is not there", seen["misses"])
        if address is not None and found is not None:
            answer = Answer(found.to_bytes(4, "little"))
            self._checker.equal(f"word of {i}", loaded["word"], extended_word(answer, address % 4, i))

    def _check_vector(self, seen: Observation, i: Instruction, low: Compact | None, high: Compact | None) -> None:
        guard = Predicate(self._codecs["guard"].field(seen["guard"], "number"), False)
        self._checker.equal(f"vector {i}", seen["vector"], int(is_vector(i, low, high, guard)))
        if seen["vector"]:
            assert low is not None
            addresses = [(low.value(lane) + i.imm) % TOP for lane in range(LANES)]
            self._checker.equal(f"addresses of {i}", addresses,
                                [addresses[0] + lane * i.access.size for lane in range(LANES)])
        self._cover_vector(i, low, high, guard, bool(seen["vector"]))

    def _block(self, seen: Observation) -> LaunchBlock:
        fields = dict.fromkeys(LaunchBlock._fields, 0)
        for space, names in FIELDS.items():
            word = self._codecs["windows"].field(seen["windows"], NAMES[space])
            fields |= dict(zip(names, (word & 0xFFFFFFFF, word >> 32), strict=True))
        return LaunchBlock(**fields)

    def _cover_uniform(
        self, i: Instruction, low: Compact | None, high: Compact | None, block: LaunchBlock, address: int | None
    ) -> None:
        hit = self._coverage.hit
        hit("store", i.op is Op.ST)
        hit("generic address", low is None or high is None)
        if i.space not in READ_ONLY or low is None or high is None or i.op is not Op.LD:
            return
        size = getattr(block, FIELDS[i.space][1])
        start = (low.base + i.imm) % TOP
        uniform = not low.stride and not high.stride
        hit(f"uniform load of {i.access.name}", address is not None)
        hit("last legal byte", address is not None and start + i.access.size == size)
        hit("first byte behind", uniform and start + i.access.size == size + 1)
        hit("misaligned uniform address", uniform and start + i.access.size <= size and start % i.access.size)
        hit("affine address of constants", low.stride)
        hit("high word counts", i.wide and high.base and address is not None)
        hit("extended", address is not None and address % 4 and i.access in (Access.S8, Access.S16))

    def _cover_vector(
        self, i: Instruction, low: Compact | None, high: Compact | None, guard: Predicate, vector: bool
    ) -> None:
        hit = self._coverage.hit
        if i.op is not Op.LD or i.space is not Space.GLOBAL or low is None or high is None:
            return
        end = (low.base + i.imm) % TOP + LANES * i.access.size
        strides = low.stride == i.access.size and not high.stride
        hit(f"vector load of {i.access.name}", vector)
        hit("ends at the top", vector and end == TOP - 1)
        hit("ends behind the top", strides and end == TOP)
        hit("wraps", strides and end > TOP)
        hit("stride of another size", low.stride in (1, 2, 4) and low.stride != i.access.size)
        hit("affine high word", high.stride)
        hit("generic guard", strides and guard.number != PT and end < TOP)
        hit("uniform address of global memory", not low.stride)


def _slot(operand: Operand) -> Compact | None:
    return operand if isinstance(operand, Compact) else None


@cocotb.test()
async def random_loads(dut: cocotb.handle.SimHandleBase) -> None:
    """Loads of all spaces, legal and not."""
    ports, checker, coverage = Ports(dut), Checker(minimum=2 * LOADS), Coverage(*POINTS)
    await exercise(ports, stimuli(), LoadCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_load_rules(seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["affine=abm"])
    runner.run(runner.build(config, "LoadRules"), BENCH, seed)
