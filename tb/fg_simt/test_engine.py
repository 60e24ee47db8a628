"""Bench of the whole engine: a memory image goes in, a memory image comes out, in lockstep with
`warploom.golden_model.fg_simt.engine` behind an ideal memory."""

import os

import cocotb
import pytest
from cocotb.triggers import ReadOnly

from warploom import store
from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.image import Image
from warploom.arch.fg_simt.sizes import EIGHT_LANES, LANE_COUNTS, Sizes
from warploom.arch.mechanisms import Affine
from warploom.fg_simt import programs
from warploom.fg_simt.images import image
from warploom.golden_model.fg_simt.engine import Engine
from warploom.golden_model.fg_simt.memory import IdealMemory
from warploom.rtl.fg_simt import engine as hardware
from warploom.tb import runner
from warploom.tb.bench import Driver, Ports, source
from warploom.tb.fg_simt.cleared import cleared
from warploom.tb.fg_simt.engine_memory import MemoryPorts
from warploom.tb.fg_simt.engine_shown import Reached, Shown
from warploom.tb.fg_simt.random_kernels import images
from warploom.tb.fg_simt.reused_entry import Waiting
from warploom.tb.fg_simt.reused_entry import contents as reused_entry_image
from warploom.tb.fg_simt.stopped_stores import Remaining, SlowMemory
from warploom.tb.fg_simt.stopped_stores import contents as stopped_stores_image

BENCH = "warploom.tb.fg_simt.test_engine"
PROGRAM, AFFINE, LANES = "WARPLOOM_PROGRAM", "WARPLOOM_AFFINE", "WARPLOOM_LANES"
"""The variables of the environment that name the program, the kind of affine execution, and the number of lanes."""

FEWER = [lanes for lanes in LANE_COUNTS if lanes != EIGHT_LANES.lanes]

LIMIT = 1 << 20
RUNS, KERNELS, CYCLES = 32, 2, 175
"""Random images, kernels of each, and cycles for each group of a warp."""


class Lockstep:
    """Hardware and model side by side, each with its own memory."""

    def __init__(self, ports: Ports, contents: Image, reached: Reached | Remaining | Waiting,
                 behind: type[IdealMemory] = IdealMemory) -> None:
        self._ports, self._reached = ports, reached
        self._hardware_memory, self._model_memory = behind(contents), behind(contents)
        self._memory = MemoryPorts(ports, self._hardware_memory, sizes_of())
        self._model = Engine(self._model_memory, affine_of(), sizes_of())
        self._shown = Shown(ports, self._model)

    async def run(self, limit: int) -> bool:
        """Until both have halted, or for so many cycles; returns whether they have. Raises `HardwareMismatch` for the
        first value that differs, and if the memories do at the end."""
        driver, ports, model = Driver(self._ports), self._ports, self._model
        await ports.reset()
        while model.cycle < limit and not model.halted:
            driver.drive(self._memory.stimulus())
            await ReadOnly()
            self._memory.step()
            model.clock()
            await ports.next_cycle()
            self._shown.compare()
            self._reached.count(model)
        self._shown.same_memory(self._hardware_memory.image(), self._model_memory.image())
        if model.halted:
            self._shown.equal("status", ports.peek("status"), model.host.status)
        return model.halted


@cocotb.test()
async def program(dut: cocotb.handle.SimHandleBase) -> None:
    """A program of the source, from image to image."""
    lockstep = Lockstep(Ports(dut), image(programs.started(os.environ[PROGRAM])), Reached())
    assert await lockstep.run(LIMIT), "the engine has not halted"


@cocotb.test()
async def random_kernels(dut: cocotb.handle.SimHandleBase) -> None:
    """Kernels of random instructions, with faults; some never end."""
    ports, reached, rng = Ports(dut), Reached(), source()
    for _ in range(RUNS):
        await Lockstep(ports, cleared(images(rng, KERNELS)), reached).run(CYCLES * sizes_of().groups)
    reached.coverage.finish()


@cocotb.test()
async def stopped_stores(dut: cocotb.handle.SimHandleBase) -> None:
    """Rows go on after a stop; they are none of the next kernel."""
    remaining = Remaining()
    lockstep = Lockstep(Ports(dut), stopped_stores_image(), remaining, SlowMemory)
    assert await lockstep.run(LIMIT), "the engine has not halted"
    assert remaining.cycles, "no row has gone on"


@cocotb.test()
async def reused_entry(dut: cocotb.handle.SimHandleBase) -> None:
    """A vector load that has the entry of one that the SLU still reads."""
    waiting = Waiting()
    assert await Lockstep(Ports(dut), reused_entry_image(), waiting).run(LIMIT), "the engine has not halted"
    assert waiting.cycles, "no load has waited"


def affine_of() -> Affine:
    """The kind of affine execution of the hardware; none unless the environment names it."""
    return Affine(os.environ.get(AFFINE, Affine.OFF))


def sizes_of() -> Sizes:
    """The lanes of the hardware; eight unless the environment says how many."""
    return Sizes(int(os.environ.get(LANES, EIGHT_LANES.lanes)))


def _run(seed: int, affine: Affine, testcase: str, name: str = "", *, lanes: int = EIGHT_LANES.lanes,
         fpga: bool = False) -> None:
    engine = hardware.Engine(affine=affine, sizes=Sizes(lanes), probe=True)
    made = runner.build(SmConfig.preset("small"), "Engine", component=engine, fpga=fpga)
    with store.run_folder(f"engine-{lanes}-{fpga}-{affine}-{testcase}-{name}-{seed}") as folder:
        runner.simulate(made, folder, BENCH, seed, testcase=testcase,
                        environment={AFFINE: affine.value, PROGRAM: name, LANES: str(lanes)})


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("affine", Affine)
def test_random_kernels(seed: int, affine: Affine) -> None:
    _run(seed, affine, "random_kernels")


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("affine", (Affine.OFF, Affine.ABM))
@pytest.mark.parametrize("lanes", FEWER)
def test_random_kernels_of_fewer_lanes(seed: int, affine: Affine, lanes: int) -> None:
    _run(seed, affine, "random_kernels", lanes=lanes)


@pytest.mark.long
@pytest.mark.rtl
def test_stopped_stores(seed: int) -> None:
    _run(seed, Affine.ABM, "stopped_stores")


@pytest.mark.long
@pytest.mark.rtl
@pytest.mark.parametrize("lanes", [1, 2])
def test_reused_entry(seed: int, lanes: int) -> None:
    _run(seed, Affine.ABM, "reused_entry", lanes=lanes)


@pytest.mark.rtl
@pytest.mark.parametrize(("affine", "name"), [
    pytest.param(affine, name, marks=() if affine is Affine.ABM and name == "cmult" else pytest.mark.long)
    for affine in Affine for name in programs.NAMES])
def test_program(seed: int, affine: Affine, name: str) -> None:
    _run(seed, affine, "program", name)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("name", programs.NAMES)
@pytest.mark.parametrize("lanes", FEWER)
def test_program_of_fewer_lanes(seed: int, lanes: int, name: str) -> None:
    _run(seed, Affine.ABM, "program", name, lanes=lanes)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("testcase", ["program", "random_kernels"])
@pytest.mark.parametrize("lanes", LANE_COUNTS)
def test_as_on_an_fpga(seed: int, lanes: int, testcase: str) -> None:
    _run(seed, Affine.ABM, testcase, "cmult", lanes=lanes, fpga=True)
