"""Configurations, traces and runs for tests of the affine unit in the cycle model."""

from dataclasses import replace
from typing import Any

from support.gated_runs import cycles
from support.warp_programs import of

from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Access, Cond, Space, Special
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.simulate import Run, simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace

EXIT = Instruction(op=Op.EXIT)
LANE = Instruction(op=Op.S2R, dst=1, special=Special.LANEID)
"""R1 is the lane."""

LOW_HALF = Instruction(op=Op.ISETP, pdst=0, src=(1, RZ, RZ), imm_slot=1, imm=16, cond=Cond.LT)
"""P0 holds in lanes 0 to 15, if R1 is the lane."""

SPREAD = Instruction(op=Op.IMUL, dst=2, src=(1, RZ, RZ), imm_slot=1, imm=0x10000)
"""R2 is the lane times a stride too wide for the affine register file."""


def config(affine: str, *settings: str, preset: str = "small") -> SmConfig:
    return SmConfig.preset(preset).with_settings([f"affine={affine}", *settings])


def load(register: int, address: int, **fields: Any) -> Instruction:
    return Instruction(**{"op": Op.LD, "dst": register, "src": (address, RZ, RZ), "space": Space.CONST,
                          "access": Access.B32, **fields})


def executed(*code: Instruction, warps: int = 1, blocks: int = 1) -> Trace:
    """Blocks of this number of warps run the instructions, with 256 bytes of constants and 256 of shared memory."""
    program = replace(of(*code, EXIT), constants=bytes(range(256)), shared_bytes=256)
    trace = execute(program, Launch(grid=(blocks, 1, 1), block=(LANES * warps, 1, 1))).trace
    assert trace is not None
    return trace


def happenings(sm: Sm) -> list[tuple[int, str]]:
    """Attempts, outcomes and issues, each with its cycle."""
    found = []
    for _ in cycles(sm):
        assert sm.datapath.affine is not None
        for attempt in sm.inputs.attempts:
            if attempt is not None:
                found.append((sm.cycle, f"try {Op(attempt['op']).name}"))
        for outcome in sm.datapath.affine.outcomes:
            if outcome is not None:
                found.append((sm.cycle, "accepted" if outcome["accepted"] else "refused"))
        if sm.inputs.issue:
            found.append((sm.cycle, Op(sm.inputs.issue[0]["op"]).name))
    return found


def checked(setting: SmConfig, trace: Trace) -> Run:
    """A run with all operands and results compared with the trace."""
    run = simulate(setting, trace, check=True)
    assert run.sm.checker is not None and run.sm.checker.checked > 0
    return run
