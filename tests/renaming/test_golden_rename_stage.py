"""What the rename stage does with the values of one warp, and counts of them (docs/contract/renaming.md)."""

from dataclasses import replace

from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.compiler.last_reads import with_last_reads
from warploom.golden_model.renaming.stage import RenameStage
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm


def stage_of(code: list[Instruction], *settings: str, registers: int = 8, stall: int = 0) -> RenameStage:
    """The rename stage of a machine whose only warp has executed the code, with so many cycles to spare at first."""
    config = SmConfig.preset("small").with_settings([*settings])
    trace = trace_of(code, registers=registers)
    sm = Sm(config, replace(trace, program=with_last_reads(trace.program)), check=True)
    stage = sm.datapath.renaming
    assert stage is not None
    if stage.predictor is not None:
        stage.predictor._set(0, stall)
    while not sm.finished:
        sm.step()
    return stage


def move(register: int) -> Instruction:
    return Instruction(op=Op.MOV, dst=register, imm=1, imm_slot=0)


MEM_RA = ("renaming=mem_ra", "tfet_rows=1", "pipes.sp.result_queue=8")


def test_requests_that_are_counted() -> None:
    """R2 and R4 are in one bank, R3 and R5 in the other, each with one TFET row. R2 and R3 get these, for R4 a CMOS row
    is left, and the load asks for none. Each request that is served takes two cycles."""
    load = Instruction(op=Op.LD, dst=5, src=(RZ, RZ, RZ), space=Space.SHARED, access=Access.B32)
    stage = stage_of([move(2), move(4), move(3), load], *MEM_RA, stall=50)
    counts = stage.renamings
    assert (counts.values, counts.requests, counts.served, counts.stalls) == (4, 3, 2, 0)
    assert stage.predictor is not None and stage.predictor._counters[0] == 50 - 2 * 2


def test_values_that_are_counted() -> None:
    """A register that is written again keeps its value's row; one that is read for the last time, and written, has a
    new value."""
    code = [move(2), move(2), Instruction(op=Op.IADD, dst=2, src=(2, RZ, RZ), imm=1, imm_slot=1)]
    counts = stage_of(code, "renaming=cmos_first").renamings
    assert (counts.values, counts.requests, counts.served) == (2, 0, 0)


def increment(register: int) -> Instruction:
    """Reads a value for the last time, and writes the next one to the same register."""
    return Instruction(op=Op.IADD, dst=register, src=(register, RZ, RZ), imm=1, imm_slot=1)


def test_a_new_value_keeps_its_row_if_none_of_the_other_kind_is_shown() -> None:
    """R2 has the only TFET row of its bank, so R4 has a CMOS row; and its next value too, although it asks."""
    stage = stage_of([move(2), move(4), increment(4)], *MEM_RA, stall=50)
    counts = stage.renamings
    assert (counts.values, counts.requests, counts.served, stage.tfet_free) == (3, 3, 1, 1)


def test_a_new_value_moves_to_a_row_of_the_kind_that_is_wanted() -> None:
    """After one request that is served there is no more time to spare: R2 leaves its TFET row for a CMOS row."""
    stage = stage_of([move(2), move(4), increment(2)], *MEM_RA, stall=3)
    counts = stage.renamings
    assert (counts.values, counts.requests, counts.served, stage.tfet_free) == (3, 1, 1, 2)


def test_a_value_that_is_written_again_asks_for_nothing() -> None:
    """Although it is in a TFET row, and there is time to spare."""
    stage = stage_of([move(2), move(2)], *MEM_RA, stall=50)
    counts = stage.renamings
    assert (counts.values, counts.requests, counts.served) == (1, 1, 1)
    assert stage.predictor is not None and stage.predictor._counters[0] == 48


def test_a_slow_row_for_which_nobody_asked_serves_no_request() -> None:
    """Of the rows of a bank half are TFET, and of the two that a warp may use one is on. Loads ask for none, and R2
    gets a TFET row because R0 has the other one."""
    loads = [Instruction(op=Op.LD, dst=register, src=(RZ, RZ, RZ), space=Space.SHARED, access=Access.B32)
             for register in (0, 2)]
    stage = stage_of(loads, *MEM_RA, "rows=16", "tfet_rows=8", registers=4, stall=50)
    counts = stage.renamings
    assert (counts.values, counts.requests, counts.served, stage.tfet_free) == (2, 0, 0, 2 * 8 - 1)
    assert stage.predictor is not None and stage.predictor._counters[0] == 50


def test_a_row_that_is_not_shown_yet_is_waited_for() -> None:
    """A bank has one register, R0, and one row. It is read for the last time in g; the next write issues in g + 1, and
    could leave in g + 2, but the row, which enters the list at the end of g + 1, can be taken from g + 3 on."""
    code = [move(0), Instruction(op=Op.IADD, dst=1, src=(0, RZ, RZ), imm=1, imm_slot=1), move(0)]
    counts = stage_of(code, "renaming=cmos_first", registers=2).renamings
    assert (counts.values, counts.stalls) == (3, 1)


def test_a_slot_is_given_again_when_its_registers_are_unmapped() -> None:
    """Three blocks of one warp take the only slot one after the other. No warp is there while its registers are swept.
    """
    config = SmConfig.preset("small").with_settings(["renaming=cmos_first", "warps=1"])
    sm, seen = Sm(config, trace_of([move(2), move(3)], warps=3, per_block=1), check=True), list[tuple[int, bool]]()
    stage = sm.datapath.renaming
    assert stage is not None
    while not sm.finished:
        sm.step()
        assert sm.cycle < 200
        state = sm.front_end.residency.warps, bool(stage.sweeping)
        if not seen or seen[-1] != state:
            seen.append(state)
    assert (1, True) not in seen
    assert [warps for warps, _ in seen].count(1) == 3 and (0, True) in seen


def test_accesses_are_as_long_if_their_cycles_are_skipped() -> None:
    """Four loads of one line each, one after the other. One of them is the sample, and when the warp ends the counter
    has the length of the last one: the cycles from its request to its answer."""
    load = Instruction(op=Op.LD, dst=2, src=(RZ, RZ, RZ), space=Space.GLOBAL, access=Access.B32)
    config = SmConfig.preset("small").with_settings([*MEM_RA, "memory_latency=500"])
    trace = trace_of([load] * 4, lanes=[1] * 4)
    stepped, skipping = Sm(config, trace), simulate(config, trace).sm
    while not stepped.finished:
        stepped.step()
    for sm in (stepped, skipping):
        stage = sm.datapath.renaming
        assert stage is not None and stage.predictor is not None
        assert stage.predictor.sample == stage.predictor._counters[0] == config.l1_latency + 500
