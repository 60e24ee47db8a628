"""The golden SM with an affine unit (docs/contract/affine.md): attempts and expansions, cycle by cycle."""

from dataclasses import replace

import pytest
from support.affine_runs import EXIT, LANE, LOW_HALF, SPREAD, checked, config, executed, happenings
from support.bypassing import Driven
from support.gated_runs import add, cycles, mov

from warploom.arch.compact import ATTEMPT_CYCLES
from warploom.arch.fields import pack
from warploom.arch.interfaces import issue_fields
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Cond, Special, Vote
from warploom.golden_model.affine import rules
from warploom.golden_model.check import Mismatch
from warploom.golden_model.compact import Compact
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import ALL_LANES

# ---------------------------------------------------------------------- attempts


def test_a_warp_attempts_a_linear_operation_after_another_at_once() -> None:
    trace = executed(LANE, add(2, 1, 1))
    assert happenings(Sm(config("a"), trace)) == [
        (1, "try S2R"), (2, "try IADD"), (1 + ATTEMPT_CYCLES, "accepted"), (2 + ATTEMPT_CYCLES, "accepted"),
    ]
    run = checked(config("a"), trace)
    assert run.sm.datapath.affine is not None and run.sm.datapath.affine.registers.read(0, 2) == Compact(0, 2)
    assert run.statistics.datapath_instructions == 0 and run.statistics.bank_accesses == 0


TRIPLE = replace(SPREAD, imm=3)
"""R2 is three times the lane."""


def test_the_result_of_a_product_is_used_when_it_is_written() -> None:
    """The second worked example of docs/contract/affine.md. An independent attempt need not wait, but one that writes
    the same register does."""
    assert happenings(Sm(config("a"), executed(LANE, TRIPLE, add(3, 2, 2))))[:4] == [
        (1, "try S2R"), (2, "try IMUL"), (5, "accepted"), (6, "try IADD")]
    assert happenings(Sm(config("a"), executed(LANE, TRIPLE, mov(3, 7))))[2] == (3, "try MOV")
    assert happenings(Sm(config("a"), executed(LANE, TRIPLE, mov(2, 7))))[3] == (6, "try MOV")


def test_younger_attempts_are_squashed_with_a_refused_one() -> None:
    """The first worked example of docs/contract/affine.md: the sum is attempted again when the product has issued."""
    trace = executed(LANE, SPREAD, add(3, 1, 1), Instruction(op=Op.LOP3, dst=4, src=(3, RZ, RZ)))
    assert happenings(Sm(config("a"), trace)) == [
        (1, "try S2R"), (2, "try IMUL"), (3, "try IADD"), (5, "accepted"), (6, "refused"), (7, "IMUL"), (8, "try IADD"),
        (12, "accepted"), (13, "LOP3")]
    run = checked(config("a"), trace)
    counts = run.statistics.counted["affine"]
    assert (counts["attempts"], counts["accepted"], counts["refused"], counts["squashed"]) == (4, 2, 1, 1)
    assert counts["operands"] == [2, 0, 0, 0]
    assert run.sm.datapath.affine is not None and run.sm.datapath.affine.registers.read(0, 3) == Compact(0, 2)


def test_every_attempt_behind_a_refused_one_is_squashed() -> None:
    """Four of them, also that of the cycle of the outcome. The other warp's attempts are not."""
    code = LANE, SPREAD, *(add(register, 1, 1) for register in (3, 4, 5, 6, 7))
    found = happenings(Sm(config("a"), executed(*code)))
    assert [name for cycle, name in found if cycle <= 7] == [
        "try S2R", "try IMUL", *["try IADD"] * 3, "accepted", "try IADD", "refused", "IMUL"]
    assert [cycle for cycle, name in found if name == "try IADD"] == [3, 4, 5, 6, *range(8, 13)]
    counts = checked(config("a", "schedulers=1"), executed(*code, warps=2)).statistics.counted["affine"]
    assert counts["refused"] == 2 and counts["accepted"] == 2 * (len(code) - 1)


def test_a_predicate_is_not_forwarded() -> None:
    """The second sum has a carry in, and waits for the outcome of the first."""
    low = Instruction(op=Op.IADD, dst=2, src=(1, 1, RZ), pdst=0)
    high = Instruction(op=Op.IADD, dst=3, src=(1, 1, RZ), psrc=0)
    assert [cycle for cycle, name in happenings(Sm(config("a"), executed(LANE, low, high))) if name == "try IADD"] == [
        2, 2 + ATTEMPT_CYCLES + 1]


def test_a_tag_that_is_not_known_is_waited_for() -> None:
    """The number of the warp is uniform; but what comes from lanes counts as affine until its outcome."""
    warp = Instruction(op=Op.SHF, dst=2, src=(1, RZ, RZ), imm_slot=2, imm=5, right=True)
    masked = Instruction(op=Op.LOP3, dst=3, src=(2, RZ, RZ), lut=0xF0)
    found = happenings(Sm(config("a"), executed(LANE, warp, masked)))
    assert found == [
        (1, "try S2R"), (2, "try SHF"), (5, "accepted"), (6, "accepted"), (7, "try LOP3"), (11, "accepted")]
    block = Instruction(op=Op.S2R, dst=2, special=Special.CTAID_X)
    assert happenings(Sm(config("a"), executed(block, masked)))[1] == (2, "try LOP3")


def test_the_uniform_unit_gets_written_registers_only() -> None:
    """Not even those of linear operations, which may turn out not to have been executed."""
    double = Instruction(op=Op.FADD, dst=2, src=(1, 1, RZ))
    found = happenings(Sm(config("a"), executed(mov(1, 0x3F800000), double)))
    assert found[:3] == [(1, "try MOV"), (1 + ATTEMPT_CYCLES, "accepted"), (2 + ATTEMPT_CYCLES, "try FADD")]


def test_only_attempts_follow_an_attempt_without_outcome() -> None:
    """An instruction of the datapath and a barrier wait, although they need nothing of it."""
    trace = executed(LANE, SPREAD, mov(3, 1), add(4, 2))
    found = happenings(Sm(config("a"), trace))
    assert found[-2:] == [(12, "accepted"), (15, "IADD")]  # behind the product
    waits = executed(mov(1, 1), Instruction(op=Op.BAR), mov(2, 2))
    assert [cycle for cycle, name in happenings(Sm(config("a"), waits)) if name == "try MOV"] == [1, 7]


def test_a_compact_operand_takes_no_bank() -> None:
    """The product needs no read: it goes from issue to dispatch in one cycle."""
    sm, spent = Sm(config("a"), executed(LANE, SPREAD)), []
    for datapath in cycles(sm):
        if sm.inputs.issue:
            spent.append(sm.cycle)
        if datapath.dispatch[0] is not None:
            spent.append(sm.cycle)
            assert datapath.dispatch[0]["operands"][0] == Compact(0, 1).word()
    assert spent[1] - spent[0] == 1 and sum(sm.datapath.register_file.bank_reads) == 0


def test_comparisons_are_resolved_with_branches_only() -> None:
    """All lanes are below 32, but not below 16."""
    code = LANE, replace(LOW_HALF, imm=32), LOW_HALF
    assert [name for _, name in happenings(Sm(config("a"), executed(*code)))][2:] == ["ISETP", "ISETP"]
    found = [name for _, name in happenings(Sm(config("ab"), executed(*code)))][2:]
    assert found == ["accepted", "accepted", "try ISETP", "refused", "ISETP"]
    counts = checked(config("ab"), executed(*code)).statistics.counted["affine"]
    assert (counts["compares"], counts["resolved"]) == (2, 1)


def test_warps_of_all_schedulers_attempt_at_once() -> None:
    """An instruction goes into the datapath in the same cycle, too."""
    setting = config("a", "schedulers=2", "warps=4")
    sm, most, beside = Sm(setting, executed(LANE, SPREAD, add(3, 1, 1), warps=4)), 0, False
    for _ in cycles(sm):
        count = sum(attempt is not None for attempt in sm.inputs.attempts)
        most = max(most, count)
        beside |= count > 0 and bool(sm.inputs.issue)
    assert most == 2 and beside


def test_uniform_floating_point_is_attempted() -> None:
    one, half = 0x3F800000, 0x3F000000
    code = [mov(1, one), Instruction(op=Op.FADD, dst=2, src=(1, RZ, RZ), imm_slot=1, imm=half),
            Instruction(op=Op.FSETP, pdst=0, src=(1, 2, RZ), cond=Cond.LT), LANE,
            Instruction(op=Op.FADD, dst=3, src=(1, 2, RZ)), Instruction(op=Op.FADD, dst=4, src=(1, 3, RZ))]
    run = checked(config("ab"), executed(*code))
    assert run.sm.datapath.affine is not None and run.sm.datapath.affine.registers.read(0, 2) == Compact(0x3FC00000)
    counts = run.statistics.counted["affine"]
    assert counts["resolved"] == 1 and counts["accepted"] == 4  # lane numbers are no floating-point operand
    assert counts["operands"] == [1, 1, 0, 0]


@pytest.mark.parametrize(("operation", "what"), [(Op.IADD, "result"), (Op.ISETP, "predicate")])
def test_a_wrong_rule_is_found(operation: Op, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rules.RULES, operation, lambda ends: 0)
    with pytest.raises(Mismatch, match=f"{what} of {operation.name} in the affine unit"):
        checked(config("ab"), executed(LANE, add(2, 1, 1), LOW_HALF))


def test_a_wrong_operand_of_an_attempt_is_found() -> None:
    """The wrong operand gives the same result: two is less than four, as is one."""
    one, two, four = 0x3F800000, 0x40000000, 0x40800000
    less = Instruction(op=Op.FSETP, pdst=0, src=(1, 2, RZ), cond=Cond.LT)
    sm = Sm(config("ab"), executed(mov(1, one), mov(2, four), less), check=True)
    assert sm.datapath.affine is not None
    with pytest.raises(Mismatch, match="operand 0 of FSETP in the affine unit"):
        for _ in cycles(sm):
            if sm.datapath.affine.registers.read(0, 1) is not None:
                sm.datapath.affine.registers.write(0, 1, Compact(two))


def test_the_count_of_a_barrier_is_uniform() -> None:
    count = Instruction(op=Op.BARRED, dst=2, vote=Vote.POPC)
    run = checked(config("a"), executed(LANE, count, add(3, 2, 1), warps=2))
    assert run.sm.datapath.affine is not None and run.statistics.datapath_instructions == 0
    assert [run.sm.datapath.affine.registers.read(warp, 3) for warp in range(2)] == [Compact(64, 1)] * 2


# ---------------------------------------------------------------------- expansions


def diverging() -> Trace:
    """R1 is written in half of the lanes when it is compact."""
    return executed(LANE, LOW_HALF, replace(add(1, 1, 1), guard=0), add(2, 1))


@pytest.mark.parametrize("bypass", ["off", "bow", "bow_wr", "bow_hints"])
def test_an_expansion_comes_before_a_partial_write(bypass: str) -> None:
    setting = config("a", f"bypass={bypass}")
    issued = []
    sm = Sm(setting, diverging())
    for _ in cycles(sm):
        if sm.inputs.issue:
            issued.append((Op(sm.inputs.issue[0]["op"]).name, sm.inputs.issue[0]["lanes"], sm.inputs.issue[0]["full"]))
    assert issued == [("ISETP", ALL_LANES, 1), ("MOV", ALL_LANES, 1), ("IADD", 0xFFFF, 0), ("IADD", ALL_LANES, 1)]
    run = checked(setting, diverging())
    counts = run.statistics.counted["affine"]
    assert (counts["expansions"], counts["suppressed"]) == (1, 0)
    assert run.statistics.datapath_instructions == 4 == sum(counts["operands"])


# ---------------------------------------------------------------------- results of some lanes


@pytest.mark.parametrize("bypass", ["off", "bow", "bow_wr", "bow_hints"])
def test_the_result_of_some_lanes_goes_into_the_datapath(bypass: str) -> None:
    """The worked example of docs/contract/front_end.md: expansion, attempt, and the MOV of its result, which reads no
    bank. Then the register is generic."""
    part = Instruction(op=Op.IADD, dst=2, src=(1, RZ, RZ), imm_slot=1, imm=1, guard=0)
    trace = executed(LANE, mov(2, 7), LOW_HALF, part, add(3, 2))
    sm, issued = Sm(config("a", f"bypass={bypass}"), trace, check=True), []
    for datapath in cycles(sm):
        if sm.inputs.issue:
            fields = sm.inputs.issue[0]
            issued.append((Op(fields["op"]).name, fields["lanes"], fields["full"], fields["dst"]))
        if issued and issued[-1][:2] == ("MOV", 0xFFFF) and datapath.dispatch[0] is not None:
            assert datapath.dispatch[0]["operands"][0] == Compact(1, 1).word()
    assert issued == [("ISETP", ALL_LANES, 1, RZ), ("MOV", ALL_LANES, 1, 2), ("MOV", 0xFFFF, 0, 2),
                      ("IADD", ALL_LANES, 1, 3)]
    counts = checked(config("a", f"bypass={bypass}"), trace).statistics.counted["affine"]
    assert (counts["expansions"], counts["suppressed"], counts["refused"]) == (1, 1, 0)
    assert counts["operands"] == [3, 1, 0, 0]
    found = happenings(Sm(config("a", f"bypass={bypass}"), trace))
    start = next(cycle for cycle, what in found if what == "MOV")
    assert [(cycle - start, what) for cycle, what in found if cycle >= start][:3] == [
        (0, "MOV"), (1, "try IADD"), (5, "accepted")]


def test_the_result_of_some_lanes_is_that_of_a_refused_attempt() -> None:
    """It goes to the datapath, and is not attempted again. Its predicate comes with the outcome, before the MOV."""
    part = replace(SPREAD, guard=0)
    found = happenings(Sm(config("a"), executed(LANE, LOW_HALF, part, mov(3, 1))))
    assert [what for _, what in found][-4:] == ["refused", "IMUL", "try MOV", "accepted"]
    low = Instruction(op=Op.IADD, dst=2, src=(1, 1, RZ), pdst=1, guard=0)
    high = Instruction(op=Op.IADD, dst=3, src=(1, 1, RZ), psrc=1, guard=0)
    found = happenings(Sm(config("a"), executed(LANE, LOW_HALF, low, high)))
    assert [what for _, what in found][-6:] == ["try IADD", "accepted", "MOV", "try IADD", "accepted", "MOV"]


def test_older_attempts_squash_one_of_some_lanes() -> None:
    """All live lanes execute the refused product, and then some of them the sum."""
    part = Instruction(op=Op.IADD, dst=3, src=(1, 1, RZ), guard=0)
    trace = executed(LANE, LOW_HALF, replace(mov(5, 1), guard=0), SPREAD, part, add(4, 3))
    counts = checked(config("a"), trace).statistics.counted["affine"]
    assert (counts["refused"], counts["squashed"], counts["suppressed"], counts["attempts"]) == (1, 1, 2, 5)


def test_an_expansion_is_charged() -> None:
    """It writes a bank, and the addition, which reads it, issues when that is done, eight cycles later."""
    whole, part = executed(LANE, LOW_HALF, add(1, 1, 1)), executed(LANE, LOW_HALF, replace(add(1, 1, 1), guard=0))
    without, expanded = (checked(config("a"), trace).statistics for trace in (whole, part))
    assert sum(without.bank_writes) == 0 and sum(expanded.bank_writes) == 2  # the MOV, and the addition itself
    assert sum(without.bank_reads) == 0 and sum(expanded.bank_reads) == 1
    assert (without.operands, expanded.operands) == ([1, 0, 0, 0], [2, 1, 0, 0])
    assert happenings(Sm(config("a"), part))[-2:] == [(14, "MOV"), (22, "IADD")]


def test_a_register_that_comes_is_expanded_before_a_partial_write() -> None:
    """The write waits for the outcome of the attempt before it, although its predicate is there."""
    part = Instruction(op=Op.IADD, dst=2, src=(1, RZ, RZ), imm_slot=1, imm=1, guard=0)
    trace = executed(LANE, LOW_HALF, replace(mov(5, 1), guard=0), add(2, 1, 1), part, add(3, 2))
    found = happenings(Sm(config("a"), trace))
    start = next(cycle for cycle, what in found if what == "try IADD")
    assert [(cycle - start, what) for cycle, what in found if cycle >= start][:4] == [
        (0, "try IADD"), (4, "accepted"), (5, "MOV"), (6, "try IADD")]
    assert checked(config("a"), trace).statistics.counted["affine"]["expansions"] == 1


def test_a_full_write_of_the_lanes_left_is_expanded_in_all_lanes() -> None:
    """Half of the lanes exit. The doubled lane is attempted for the others, and then written in lanes 16 to 23."""
    part = replace(LOW_HALF, pdst=1, imm=24)
    trace = executed(LANE, LOW_HALF, replace(EXIT, guard=0), add(2, 1, 1), part, replace(add(2, 2, 2), guard=1),
                     add(3, 2))
    sm, left, issued, attempted = Sm(config("a"), trace), 0xFFFF0000, [], []
    for _ in cycles(sm):
        attempted += [(Op(each["op"]), each["lanes"], each["full"]) for each in sm.inputs.attempts if each is not None]
        if sm.inputs.issue:
            issued.append((Op(sm.inputs.issue[0]["op"]), sm.inputs.issue[0]["lanes"], sm.inputs.issue[0]["full"]))
    assert attempted == [(Op.S2R, ALL_LANES, 1), (Op.IADD, left, 1)]
    assert issued == [(Op.ISETP, ALL_LANES, 1), (Op.ISETP, left, 1), (Op.MOV, ALL_LANES, 1), (Op.IADD, 0xFF0000, 0),
                      (Op.IADD, left, 1)]
    assert checked(config("a"), trace).statistics.counted["affine"]["accepted"] == 2


def test_lanes_that_have_exited_hold_anything() -> None:
    """The remaining lanes make a register compact that held products; in other lanes its expansion differs from
    them."""
    leave = Instruction(op=Op.EXIT, guard=0, guard_not=True)
    few = replace(LOW_HALF, imm=8, pdst=1)
    code = LANE, replace(SPREAD, dst=3), LOW_HALF, leave, add(3, 1), few, replace(add(3, 3), guard=1)
    assert checked(config("abm"), executed(*code)).statistics.counted["affine"]["expansions"] == 1


def test_a_warp_finds_the_tags_of_the_one_before() -> None:
    """Only the first block writes R2 and R3. The second still adds R2, for which functional execution has another
    value, and writes R3 in half of the lanes."""
    one, half, sum_of_both = 0x3F800000, 0x3F000000, 0x3FC00000
    block = Instruction(op=Op.S2R, dst=4, special=Special.CTAID_X)
    first = Instruction(op=Op.ISETP, pdst=1, src=(4, RZ, RZ), imm_slot=1, imm=0, cond=Cond.EQ)
    later_half = replace(LOW_HALF, psrc=1, psrc_not=True)
    addition = Instruction(op=Op.FADD, dst=5, src=(2, RZ, RZ), imm_slot=1, imm=half)
    code = [LANE, block, first, replace(mov(2, one), guard=1), replace(mov(3, 7), guard=1), later_half, addition,
            replace(add(3, 1), guard=0), add(6, 5), add(7, 3)]
    trace = executed(*code, blocks=2)
    run = checked(config("ab", "blocks=1"), trace)
    assert run.sm.datapath.affine is not None and run.sm.datapath.affine.registers.read(0, 6) == Compact(sum_of_both)
    row = trace.warps[1].result[code.index(addition)]
    assert set(trace.results[row].tolist()) == {half}
    assert run.statistics.counted["affine"]["expansions"] == 1


@pytest.mark.parametrize("bypass", ["bow", "bow_wr"])
def test_without_hints_an_expansion_ages_entries_like_any_instruction(bypass: str) -> None:
    sm = Sm(config("a", f"bypass={bypass}"), diverging())
    issued = [sm.inputs.issue[0] for _ in cycles(sm) if sm.inputs.issue]
    assert len(issued) == 4 and not any(fields["aside"] for fields in issued)


def test_with_hints_an_expansion_ages_nothing() -> None:
    sm, aside = Sm(config("a", "bypass=bow_hints"), diverging()), []
    for _ in cycles(sm):
        if sm.inputs.issue:
            pack(issue_fields(sm.config), sm.inputs.issue[0])
            aside.append(sm.inputs.issue[0]["aside"])
            assert sm.inputs.issue[0]["to_collector"] != aside[-1] and sm.inputs.issue[0]["to_file"]
    assert aside == [0, 1, 0, 0]
    collector = Driven("bow_hints")
    collector.take([3])
    collector.take([], 1, aside=1, to_collector=0)
    assert collector.named(3).age == 0 and len(collector.held) == 2
    collector.take([], 1, aside=0)
    assert collector.named(3).age == 1
