"""The golden SM with an affine unit (docs/contract/affine.md): attempts and expansions, cycle by cycle."""

from dataclasses import replace

import pytest
from affine_runs import EXIT, LANE, LOW_HALF, SPREAD, checked, config, executed, happenings
from bypassing import Driven
from gated_runs import add, cycles, mov

from warploom.arch.interfaces import ATTEMPT_CYCLES, issue_fields, pack
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Cond, Special, Vote
from warploom.golden_model.affine import rules
from warploom.golden_model.check import Mismatch
from warploom.golden_model.compact import Compact
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import ALL_LANES

# ---------------------------------------------------------------------- attempts


def test_an_attempt_takes_five_cycles() -> None:
    trace = executed(LANE, add(2, 1, 1))
    assert happenings(Sm(config("a"), trace)) == [
        (1, "try S2R"), (1 + ATTEMPT_CYCLES, "accepted"), (2 + ATTEMPT_CYCLES, "try IADD"),
        (2 + 2 * ATTEMPT_CYCLES, "accepted"),
    ]
    run = checked(config("a"), trace)
    assert run.sm.datapath.affine is not None and run.sm.datapath.affine.registers.read(0, 2) == Compact(0, 2)
    assert run.statistics.datapath_instructions == 0 and run.statistics.bank_accesses == 0


def test_a_refused_attempt_is_issued_again_into_the_datapath() -> None:
    trace = executed(LANE, SPREAD, add(3, 2))
    found = happenings(Sm(config("a"), trace))
    assert [name for _, name in found] == ["try S2R", "accepted", "try IMUL", "refused", "IMUL", "IADD"]
    refused, again = found[3][0], found[4][0]
    assert again == refused + 1
    counts = checked(config("a"), trace).statistics.counted["affine"]
    assert (counts["attempts"], counts["accepted"], counts["refused"]) == (2, 1, 1)
    assert counts["operands"] == [1, 1, 0, 0]  # the lane was compact, the product is not


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
    assert found == ["try ISETP", "accepted", "try ISETP", "refused", "ISETP"]
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
    assert (counts["expansions"], counts["suppressed"]) == (1, 1)
    assert run.statistics.datapath_instructions == 4 == sum(counts["operands"])


def test_an_expansion_is_charged() -> None:
    """It writes a bank, and the addition, which reads it, issues when that is done, seven cycles later."""
    whole, part = executed(LANE, LOW_HALF, add(1, 1, 1)), executed(LANE, LOW_HALF, replace(add(1, 1, 1), guard=0))
    without, expanded = (checked(config("a"), trace).statistics for trace in (whole, part))
    assert sum(without.bank_writes) == 0 and sum(expanded.bank_writes) == 2  # the MOV, and the addition itself
    assert sum(without.bank_reads) == 0 and sum(expanded.bank_reads) == 1
    assert (without.operands, expanded.operands) == ([1, 0, 0, 0], [2, 1, 0, 0])
    assert happenings(Sm(config("a"), part))[-2:] == [(13, "MOV"), (20, "IADD")]


def test_what_is_full_among_the_lanes_that_are_left_is_expanded_in_all() -> None:
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
