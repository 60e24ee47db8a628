"""Bench of the engine behind its caches: a memory image goes in and comes out over AXI4, in lockstep with
`warploom.golden_model.fg_simt.engine` and the model of the L1."""

import os
import random
from collections.abc import Callable, Sequence

import cocotb
import pytest
from cocotb.triggers import ReadOnly

from warploom import store
from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.image import Image
from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import LINE_BYTES
from warploom.arch.mechanisms import Affine
from warploom.fg_simt import programs
from warploom.fg_simt.images import image
from warploom.golden_model.fg_simt.cached_memory import CachedMemory
from warploom.golden_model.fg_simt.engine import Engine
from warploom.golden_model.fg_simt.segments import Segments
from warploom.golden_model.l1.bank import Offer
from warploom.golden_model.l1.bus import AxiMaster, Slave
from warploom.rtl.fg_simt.whole import WholeEngine
from warploom.tb import runner
from warploom.tb.bench import Driver, Ports, source
from warploom.tb.fg_simt.cleared import cleared
from warploom.tb.fg_simt.engine_shown import Shown
from warploom.tb.fg_simt.random_kernels import images
from warploom.tb.fg_simt.test_engine import AFFINE, FEWER, LANES, LIMIT, PROGRAM, affine_of, sizes_of
from warploom.tb.l1.axi import RefusedError, attach, compare_master, slave_of

BENCH = "warploom.tb.fg_simt.test_whole_engine"
LINES = 16
"""Of a bank, and of the instruction cache: so few that they are replaced."""

SHORT = "cmult"
"""The program, unless the environment names one."""

KERNELS, TURNS, CYCLES, STORED = 8, 2, 3000, 64
"""Random kernels, how many times each is launched, the cycles for each group of a warp in which all must end, and the
bytes that they must change."""


class Contents:
    """The memory behind the bus; a line that is not there is refused."""

    def __init__(self, contents: Image) -> None:
        self.segments = Segments(contents)

    async def read(self, address: int, length: int) -> bytes:
        """Some bytes of a line."""
        line = self.segments.load(address & -LINE_BYTES)
        if line is None:
            raise RefusedError(f"{address:#x}")
        return line[address % LINE_BYTES :][:length]

    async def write(self, address: int, data: bytes) -> None:
        """Stores some bytes of a line."""
        place = self.segments.find(address, len(data))
        if place is None:
            raise RefusedError(f"{address:#x}")
        place[:] = bytearray(data)


class SeenBus:
    """The bus of the model: what the slave of the hardware does in the cycle. What the masters of both do is the
    same."""

    def __init__(self, ports: Ports, equal: Callable[[str, object, object], None]) -> None:
        every = {**ports.inputs, **ports.outputs}
        self._handles = {name: handle for name, handle in every.items() if name.startswith("axi__")}
        self._equal = equal

    def step(self, bus: AxiMaster, offers: Sequence[Offer | None]) -> Slave:
        """See `warploom.golden_model.fg_simt.cached_memory.Bus`."""
        seen = {name: int(handle.value) for name, handle in self._handles.items()}
        compare_master(seen, bus, offers, self._equal)
        return slave_of(seen)


class Lockstep:
    """Hardware and model side by side, behind one bus."""

    def __init__(self, dut: cocotb.handle.SimHandleBase, contents: Image) -> None:
        self._ports, self._contents = Ports(dut), Contents(contents)
        self._caches = CachedMemory((), lines=LINES, bus=SeenBus(self._ports, self._equal), sizes=sizes_of())
        self._model = Engine(self._caches, affine_of(), sizes_of())
        self._shown = Shown(self._ports, self._model)
        for wait in attach(dut, self._contents, source()):
            wait.share = 0.2

    def _equal(self, name: str, actual: object, expected: object) -> None:
        self._shown.equal(name, actual, expected)

    async def run(self, limit: int) -> bool:
        """Until both have halted, or for so many cycles; returns whether they have."""
        driver, ports, model = Driver(self._ports), self._ports, self._model
        await ports.reset()
        while model.cycle < limit and not model.halted:
            await ReadOnly()
            model.clock()
            await ports.next_cycle()
            self._shown.compare()
        if model.halted:
            self._shown.equal("status", ports.peek("status"), model.host.status)
            await self._flush(driver, limit)
        return model.halted

    async def _flush(self, driver: Driver, limit: int) -> None:
        """Both write back what is in their data caches: what comes out is compared, too."""
        for cycle in range(limit):
            driver.drive({"flush": int(not cycle)})
            if not cycle:
                self._caches.flush()
            await ReadOnly()
            self._model.clock()
            await self._ports.next_cycle()
            if not self._ports.peek("busy"):
                break
        ports = self._ports
        self._shown.equal("busy after a flush, failed", (ports.peek("busy"), ports.peek("failed")), (0, 0))
        self._shown.equal("busy after a flush", ports.peek("busy"), int(self._caches.busy))

    def compare_memory(self, expected: Image) -> None:
        """The memory behind the bus with what it must be."""
        self._shown.same_memory(self._contents.segments.image(), expected)


@cocotb.test()
async def program(dut: cocotb.handle.SimHandleBase) -> None:
    """A program of the source: the image that comes out is that of the model behind a memory of its own."""
    contents = image(programs.started(os.environ.get(PROGRAM, SHORT)))
    lockstep = Lockstep(dut, contents)
    assert await lockstep.run(LIMIT), "the engine has not halted"
    memory = CachedMemory(contents, sizes=sizes_of())
    model = Engine(memory, affine_of(), sizes_of())
    while not model.halted:
        model.clock()
    lockstep.compare_memory(memory.image())


@cocotb.test()
async def random_kernels(dut: cocotb.handle.SimHandleBase) -> None:
    """Kernels of random instructions that end, and all that they have stored."""
    limit = 4 * CYCLES * sizes_of().groups  # the bus is slower than in the trial
    assert await Lockstep(dut, _ending(source())).run(limit), "the engine has not halted"


def _ending(rng: random.Random) -> Image:
    """An image of random kernels that end and store something, as a trial shows."""
    while True:
        contents = cleared(images(rng, KERNELS, TURNS))
        memory = CachedMemory(contents, lines=LINES, sizes=sizes_of())
        model = Engine(memory, affine_of(), sizes_of())
        while not model.halted and model.cycle < CYCLES * sizes_of().groups:
            model.clock()
        if model.halted and _changed(contents, memory.image()) >= STORED:
            return contents


def _changed(before: Image, after: Image) -> int:
    """The bytes in which two images of the same segments differ."""
    return sum(a != b for old, new in zip(sorted(before), sorted(after), strict=True)
               for a, b in zip(old.contents, new.contents, strict=True))


def _run(seed: int, affine: Affine, testcase: str, name: str = "", *, lanes: int = EIGHT_LANES.lanes,
         fpga: bool = False) -> None:
    engine = WholeEngine(affine=affine, sizes=Sizes(lanes), lines=LINES, probe=True)
    made = runner.build(SmConfig.preset("small"), "WholeEngine", component=engine, fpga=fpga)
    with store.run_folder(f"whole-engine-{lanes}-{fpga}-{affine}-{testcase}-{name}-{seed}") as folder:
        runner.simulate(made, folder, BENCH, seed, testcase=testcase,
                        environment={AFFINE: affine.value, PROGRAM: name, LANES: str(lanes)})


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("affine", Affine)
def test_random_kernels(seed: int, affine: Affine) -> None:
    _run(seed, affine, "random_kernels")


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", programs.NAMES)
@pytest.mark.parametrize("affine", Affine)
def test_program(seed: int, affine: Affine, name: str) -> None:
    _run(seed, affine, "program", name)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("fpga", [False, True])
@pytest.mark.parametrize("name", (SHORT, "conv"))
@pytest.mark.parametrize("lanes", FEWER)
def test_program_of_fewer_lanes(seed: int, lanes: int, name: str, fpga: bool) -> None:
    _run(seed, Affine.ABM, "program", name, lanes=lanes, fpga=fpga)
