"""Bench of the control processor in kernel mode: hardware against what the whole model does there, on a program and on
random kernels."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.encoding import encode
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.modifiers import Cond, Special, Vote
from warploom.fg_simt.images import image
from warploom.fg_simt.programs import started
from warploom.tb import runner
from warploom.tb.bench import Checker, Ports, exercise, source
from warploom.tb.fg_simt.control_check import ControlCheck
from warploom.tb.fg_simt.control_traces import Recorder
from warploom.tb.fg_simt.random_kernels import images, launched

BENCH = "warploom.tb.fg_simt.test_control"
CYCLES = 2500
"""Of a program."""

RANDOM, KERNELS = 90000, 360
"""Cycles, and kernels, of random code: so many that rare situations are seen several times, with any seed."""

RUNS, LASTS = 10, 150
"""Of the kernels of rare situations: how often each of them runs, and how many cycles it lasts, about."""


@cocotb.test()
async def program(dut: cocotb.handle.SimHandleBase) -> None:
    """The outputs of every cycle are those of the model."""
    ports, checker = Ports(dut), Checker(minimum=10 * CYCLES)
    recorder = Recorder(image(started("bfs")), ports.config.affine, rng=source())
    check = ControlCheck(ports, checker, recorder.observed)
    await exercise(ports, check.stimuli(recorder.cycles(CYCLES)), check, checker)


@cocotb.test()
async def random_kernels(dut: cocotb.handle.SimHandleBase) -> None:
    """Kernels of random instructions, with ports that are not always ready, and with invented faults."""
    ports, checker, rng = Ports(dut), Checker(minimum=10 * RANDOM), source()
    recorder = Recorder(images(rng, KERNELS), ports.config.affine, rng=rng, faults=0.003, patience=0.2)
    check = ControlCheck(ports, checker, recorder.observed)
    await exercise(ports, check.stimuli(recorder.cycles(RANDOM)), check, checker)
    kind, counts = ports.config.affine, recorder.engine.control.counts
    assert not kind.is_on or (counts["affine"] and counts["expansions"])
    assert not kind.has_memory or counts["vector_loads"]
    check.coverage.finish()


UNIFORM_VOTE = (
    Instruction(op=Op.S2R, dst=1, special=Special.LANEID),
    Instruction(op=Op.ISETP, src=(RZ, RZ, RZ), pdst=3, cond=Cond.EQ),
    Instruction(op=Op.ISETP, src=(1, RZ, RZ), imm=3, imm_slot=1, pdst=0, cond=Cond.LT),
    Instruction(op=Op.BRA, guard=0, imm=5),
    Instruction(op=Op.VOTE, psrc=3, pdst=3, imm=(1 << 32) - 1, imm_slot=0, vote=Vote.ANY), Instruction(op=Op.EXIT),
)
"""Some lanes vote, and write the uniform predicate that they read: it is expanded first."""


JOINED_VOTE = (
    Instruction(op=Op.S2R, dst=1, special=Special.LANEID),
    Instruction(op=Op.ISETP, src=(1, RZ, RZ), imm=3, imm_slot=1, pdst=0, cond=Cond.LT),
    Instruction(op=Op.BRA, guard=0, imm=4), Instruction(op=Op.NOP),
    *(Instruction(op=Op.VOTE, psrc=PT, dst=2, imm=members, imm_slot=0, vote=Vote.BALLOT) for members in (5, 6)),
    Instruction(op=Op.EXIT),
)
"""All lanes vote where some have waited for the others, in the step in which they join."""


MISSED_VOTE = (
    Instruction(op=Op.S2R, dst=1, special=Special.LANEID),
    Instruction(op=Op.ISETP, src=(1, RZ, RZ), imm=3, imm_slot=1, pdst=0, cond=Cond.LT),
    Instruction(op=Op.BRA, guard=0, imm=7),
    Instruction(op=Op.VOTE, psrc=PT, dst=2, imm=0xFFFFFFF8, imm_slot=0, vote=Vote.BALLOT, sync=True),
    Instruction(op=Op.VOTE, psrc=0, pdst=1, imm=0xFFFFFFFF, imm_slot=0, vote=Vote.ANY),
    Instruction(op=Op.VOTE, psrc=0, pdst=1, imm=0xFFFFFFFF, imm_slot=0, vote=Vote.ANY, sync=True),
    Instruction(op=Op.EXIT), Instruction(op=Op.EXIT),
)
"""Three lanes are elsewhere: the last vote is a fault, but those without them or without `sync` are not."""


EXPANDED_GUARD = (
    Instruction(op=Op.S2R, dst=1, special=Special.LANEID),
    *(Instruction(op=Op.ISETP, src=(RZ, RZ, RZ), pdst=number, cond=Cond.EQ) for number in (2, 3)),
    Instruction(op=Op.ISETP, src=(1, RZ, RZ), imm=3, imm_slot=1, pdst=0, cond=Cond.LT),
    Instruction(op=Op.BRA, guard=0, imm=7),
    *(Instruction(op=Op.ISETP, guard=3, src=(RZ, RZ, RZ), pdst=number, cond=Cond.EQ) for number in (2, 3)),
    Instruction(op=Op.EXIT),
)
"""Some lanes write a uniform predicate that is not their guard, then the one that is: each is expanded first."""


@cocotb.test()
async def rare_situations(dut: cocotb.handle.SimHandleBase) -> None:
    """The kernels above, many times."""
    ports, checker, rng = Ports(dut), Checker(minimum=10 * RUNS), source()
    kernels = (UNIFORM_VOTE, JOINED_VOTE, MISSED_VOTE, EXPANDED_GUARD)
    codes = [[encode(i) for i in kernel] for kernel in kernels] * RUNS
    recorder = Recorder(launched(rng, codes), ports.config.affine, rng=rng)
    check = ControlCheck(ports, checker, recorder.observed)
    await exercise(ports, check.stimuli(recorder.cycles(len(codes) * LASTS)), check, checker, partial=True)


@pytest.mark.rtl
@pytest.mark.long
@pytest.mark.parametrize("kind", ["abm", "off", "a", "ab"])
def test_control_processor(kind: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"affine={kind}"])
    runner.run(runner.build(config, "ControlProcessor"), BENCH, seed)
