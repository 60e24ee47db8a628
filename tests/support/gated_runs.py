"""Configurations, traces and runs for tests of gating in the cycle model."""

import random
from collections.abc import Iterator
from typing import Any

from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import ALL_LANES

HALF = ALL_LANES >> 16
COALESCING = ("off", "on")
GATED = ("active", "in_lane", "cross_lane")
COLUMN_COUNTERS = ("sub_bank_reads", "sub_bank_writes", "column_reads", "column_writes", "collector_columns",
                   "operand_columns", "lane_loads")


def config(coalescing: str, gating: str, *settings: str, preset: str = "small") -> SmConfig:
    return SmConfig.preset(preset).with_settings([f"coalescing={coalescing}", f"gating={gating}", *settings])


def mov(register: int, value: int) -> Instruction:
    return Instruction(op=Op.MOV, dst=register, imm_slot=0, imm=value & 0xFFFFFFFF)


def add(register: int, *sources: int) -> Instruction:
    return Instruction(op=Op.IADD, dst=register, src=(*sources, 255, 255)[:3])


def integers(seed: int, length: int = 80, warps: int = 4) -> Trace:
    """Integer operations on values that are often zero, in some lanes or bytes, under masks of all kinds."""
    rng = random.Random(seed)
    code = [mov(register, register % 3) for register in range(8)]  # from here on all registers are defined
    for _ in range(length):
        op = rng.choice([Op.MOV, Op.MOV, Op.IADD, Op.ISUB, Op.IMAD, Op.IMIN, Op.IMAX, Op.LOP3, Op.SHF, Op.SEL, Op.LD])
        chosen: dict[str, Any] = {"op": op, "dst": rng.randrange(8), "src": tuple(rng.choices(range(8), k=3))}
        if op is Op.LD:
            chosen |= {"space": Space.GLOBAL, "access": Access.B32}
        if op is Op.LOP3:
            chosen["lut"] = rng.choice([0xC0, 0x80, 0xE8, 0xFC, rng.getrandbits(8)])
        if op is Op.MOV or (op is not Op.LD and rng.random() < 0.4):
            chosen |= {"imm_slot": 0 if op is Op.MOV else rng.randrange(3),
                       "imm": rng.choice([0, 0, 1, 0xFF, 0xFF00, 0xFF0000, 0x12345678, 0xFFFFFFFF])}
        code.append(Instruction(**chosen))
    lanes = [rng.choice([ALL_LANES, ALL_LANES, HALF, rng.getrandbits(32), 1 << rng.randrange(32)])
             for _ in code[8:]]
    return trace_of(code, warps=warps, seed=seed, lanes=[ALL_LANES] * 8 + lanes)


def cycles(sm: Sm) -> Iterator[Any]:
    """The datapath in every active cycle of a run."""
    while True:
        sm.step()
        if sm.finished:
            return
        yield sm.datapath
        sm.skip()


def counted(trace: Trace, setting: SmConfig) -> dict[str, int]:
    """The counters after a run with every operand checked."""
    return simulate(setting, trace, check=True).sm.datapath.activity()
