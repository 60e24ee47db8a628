"""The worked examples of [TFET]: how long a TFET row serves one request (Fig. 8); and in kind, memory with less
contention (Fig. 3), and SMs that share the requests for TFET rows (Fig. 7)."""

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.compiler.last_reads import with_last_reads
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.gpu.limits import FEW, MANY
from warploom.golden_model.gpu.simulate import GpuRun, simulate_gpu
from warploom.golden_model.sm import Sm

PAIR = [Instruction(op=Op.MOV, dst=2, imm=1, imm_slot=0),
        Instruction(op=Op.IADD, dst=3, src=(2, RZ, RZ), imm=1, imm_slot=1)]
"""Instructions n and n + 1 of the figure: a write of R2, and its last read."""

STALLED = (0, 2, 4)
"""Warps that request TFET rows."""


def served(scheduler: str) -> list[int]:
    """For how many cycles a TFET row, the only one of its bank, belongs to each request, from when it is given until it
    is free. Of 24 warps three have time to spare."""
    config = SmConfig.preset("small").with_settings(
        ["warps=24", "banks=4", "collectors=4", "renaming=mem_ra", "tfet_rows=1", "pipes.sp.result_queue=8",
         f"scheduler={scheduler}"])
    trace = trace_of(6 * PAIR, warps=24, registers=4)
    sm = Sm(config, replace(trace, program=with_last_reads(trace.program)), check=True)
    stage = sm.datapath.renaming
    assert stage is not None and stage.predictor is not None
    for slot in STALLED:
        stage.predictor._set(slot, 50)
    since, spans = dict[int, int](), list[int]()
    while not sm.finished:
        sm.step()
        for bank in range(config.banks):
            has_free = config.rows - 1 in stage.lists.rows(bank)
            if not has_free:
                since.setdefault(bank, sm.cycle)
            elif bank in since:
                spans.append(sm.cycle - since.pop(bank))
    assert stage.renamings.requests == 21, "each value of these warps, except in rows that they keep"
    return spans


def test_004_fig_8() -> None:
    """Under round robin all other warps issue between n and n + 1 of warp 0, and its row T5 serves one request for so
    long. With the picker that asks for requests n + 1 follows as soon as it may, and the row serves the next warp
    earlier."""
    round_robin, aware = served("lrr"), served("trws")
    assert len(round_robin) == len(aware) == 12
    assert min(round_robin) >= 24 > max(aware)
    assert 3 * sum(aware) < 2 * sum(round_robin)


# ---------------------------------------------------------------- two SMs

SMS = ("sms=2", "slices=1", "channels=1", "mesh_columns=2", "l2_sets=32")


def in_rounds(work: str, rounds: int, threads: int, light: int = 0) -> str:
    """A kernel whose threads load a word each, and `work` on it (%r4, into %t0), in each round. With `light` the even
    ones of the first 16 blocks compute so many rounds without memory."""
    return f"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry rounds(.param .u64 words)
{{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b32 %t<4>;
    .reg .b64 %a<2>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    setp.lt.u32 %p2, %r1, {16 * bool(light)};
    and.pred %p1, %p1, %p2;
    mad.lo.u32 %r1, %r1, %r5, %r0;
    ld.param.u64 %a0, [words];
    mul.wide.u32 %a1, %r1, 4;
    add.u64 %a0, %a0, %a1;
    mov.u32 %r2, 1;
    mov.u32 %r3, {max(light, 1)};
    @%p1 bra LIGHT;
    mov.u32 %r3, {rounds};
HEAVY:
    ld.global.u32 %r4, [%a0+0];
    add.u64 %a0, %a0, {4 * threads};
    {work}
    xor.b32 %r2, %r2, %t0;
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %p0, %r3, 0;
    @%p0 bra HEAVY;
    bra END;
LIGHT:
    mad.lo.u32 %r2, %r2, %r1, %r1;
    mad.lo.u32 %r2, %r2, %r1, %r1;
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %p0, %r3, 0;
    @%p0 bra LIGHT;
END:
    st.global.u32 [%a0+0], %r2;
    exit;
}}
"""


def on_two_sms(work: str, rounds: int, blocks: int, block: int, *settings: str, light: int = 0) -> GpuRun:
    """That kernel on two SMs."""
    threads = blocks * block
    program = with_last_reads(compile_ptx(in_rounds(work, rounds, threads, light), "rounds.ptx"))
    words = Buffer("words", np.zeros(threads * (rounds + 1), np.uint32))
    trace = execute(program, Launch((blocks, 1, 1), (block, 1, 1), (words,))).trace
    assert trace is not None
    return simulate_gpu(GpuConfig.preset("tfet_gpu").with_settings([*SMS, *settings]), trace)


def test_004_fig_3() -> None:
    """All warps of both SMs load at once, from narrow memory, and wait for the last of them. If those that have waited
    long then work in slow rows, they load later, and memory answers sooner; together they hardly take longer."""
    work = "mov.u32 %t0, %r4;" + 23 * "mad.lo.u32 %t0, %t0, %r1, %r1;"
    plain, renamed = (on_two_sms(work, 6, 4, 512, "dram_bytes=4", *settings)
                      for settings in ((), ("tfet_rows=56", "renaming=mem_ra")))
    assert sum(sm.counted["renaming"]["served"] for sm in renamed.sms) > 5000
    assert renamed.statistics.mean_latency < 0.95 * plain.statistics.mean_latency
    assert renamed.statistics.run_cycles < 1.02 * plain.statistics.run_cycles


def test_004_fig_7(monkeypatch: pytest.MonkeyPatch) -> None:
    """One SM is full of blocks that compute, so that its TFET rows are free, while those of the other one are used up.
    With TUBA and TRWS that one has fewer blocks: more often some of its rows are free, and more requests are served."""
    monkeypatch.setattr("warploom.golden_model.gpu.samples.INTERVAL", 256)
    work = "".join(f"mad.lo.u32 %t{i}, %r4, %r1, %r1;" for i in range(4)) + "".join(
        f"xor.b32 %t0, %t0, %t{i};" for i in range(1, 4))
    plain, aware = (on_two_sms(work, 2, 48, 192, "tfet_rows=18", "renaming=mem_ra", *settings, light=90)
                    for settings in ((), ("block_scheduler=tuba", "scheduler=trws")))
    assert unbalanced(plain) > 1.5 * unbalanced(aware) > 0
    asked, served = ([sum(sm.counted["renaming"][name] for sm in run.sms) for run in (plain, aware)]
                     for name in ("requests", "served"))
    assert asked[0] == asked[1] and served[1] > 1.04 * served[0]


def unbalanced(run: GpuRun) -> float:
    """The share of samples in which one SM has so few free TFET rows that TUBA lowers its limit, and another one so
    many that it raises it."""
    rows = 18 * 4
    return fmean(100 * min(free) < FEW * rows and 100 * max(free) > MANY * rows
                 for free in zip(*run.free_rows, strict=False))
