"""What the code of a workload offers to hints for order, and what it executes, whatever the machine ([HAWS], Figs. 5.2,
5.5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from warploom.arch.isa import MEMORY_OPS, PT, RZ, Instruction, Op, Pipe
from warploom.arch.order_hints import Hint
from warploom.arch.program import Program
from warploom.compiler.hints import hinted
from warploom.evaluation.cached import of_traces
from warploom.golden_model.trace import Trace

_NO_ALU = frozenset({*MEMORY_OPS, Op.BRA, Op.EXIT, Op.BAR, Op.BARRED, Op.MEMBAR, Op.TRAP, Op.NOP})


@dataclass(frozen=True)
class HintedCode:
    """Machine instructions of a workload's kernels: all, those of `long_latency` (of the pipe MEM, with a result), and
    the `independent` ones, which are in hint groups and no long latency themselves. `registers` of a thread: those of
    the kernel with the most. `alu` and `loads` are dynamic warp instructions of all launches: loads from any space;
    and what neither accesses memory nor changes the flow, shuffles included."""

    instructions: int
    long_latency: int
    independent: int
    registers: int
    alu: int
    loads: int


def hinted_code(launches: Sequence[Trace]) -> HintedCode:
    """Count the kernels and the launches of a workload."""
    programs = list({id(launch.program): launch.program for launch in launches}.values())
    long_latency = [{pc for pc, instruction in enumerate(program.instructions) if _is_long(instruction)}
                    for program in programs]
    return HintedCode(
        sum(len(program.instructions) for program in programs), sum(map(len, long_latency)),
        sum(len(_grouped(program) - these) for program, these in zip(programs, long_latency, strict=True)),
        max(program.registers for program in programs),
        sum(_executed(launch, lambda op: op not in _NO_ALU) for launch in launches),
        sum(_executed(launch, lambda op: op is Op.LD) for launch in launches))


def _is_long(instruction: Instruction) -> bool:
    """Whether memory gives its result."""
    return instruction.pipe is Pipe.MEM and (instruction.dst != RZ or instruction.pdst != PT)


def _grouped(program: Program) -> set[int]:
    """The instructions in hint groups."""
    code = program.instructions
    return {pc for pc, word in hinted(program).order_hints if code[pc].op is Op.BRA or not _is_stall(Hint.decode(word))}


def _is_stall(hint: Hint) -> bool:
    return hint.renamed and hint.dst == RZ


def _executed(trace: Trace, counts: Callable[[Op], bool]) -> int:
    """Dynamic warp instructions that count."""
    wanted = np.array([counts(instruction.op) for instruction in trace.program.instructions])
    return int(sum(wanted[warp.pc].sum() for warp in trace.warps))


CODE = of_traces("hinted-code", hinted_code, HintedCode, "warploom/evaluation/haws/code.py")
"""The code of workloads."""
