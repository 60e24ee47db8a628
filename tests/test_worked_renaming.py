"""The worked example of [TFET]: how long a TFET row serves one request."""

from dataclasses import replace

from golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.compiler.last_reads import with_last_reads
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
