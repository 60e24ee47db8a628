"""Two instructions of a warp in one cycle: which ones, held to a statement of the rule over their fields alone."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.gated_runs import integers
from support.golden_traces import random_instruction, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import PT, RZ, Instruction, Op, Pipe
from warploom.arch.launch import Buffer, Launch
from warploom.arch.modifiers import Access, DType, Space, Special
from warploom.compiler.compile import compile_file, compile_ptx
from warploom.golden_model.front_end.decisions import Claim, Lead
from warploom.golden_model.front_end.decode import Static, decode
from warploom.golden_model.front_end.pairs import Pairs, may_pair
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.simt import Walk
from warploom.golden_model.front_end.warps import Block, Follower, Warp
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.records import IssueFields
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import ALL_LANES
from warploom.kernels.library import kernel

BEATS = (
    Instruction(op=Op.LATCH, src=(1, 2, 3)), Instruction(op=Op.HIGH, dst=4),
    Instruction(op=Op.DADD, dst=4, src=(1, 2, RZ)), Instruction(op=Op.DSETP, pdst=1, src=(1, 2, RZ)),
    Instruction(op=Op.DRCP, dst=4, src=(1, 2, RZ)), Instruction(op=Op.CVT, dst=4, src=(1, RZ, RZ), dst_type=DType.F64),
)
"""LATCH and HIGH, instructions that follow a LATCH, and producers of 64 bits."""

SEVERAL = ("schedulers=2", "issue_ports=2", "collectors=6")


# ---------------------------------------------------------------------- the rule, by brute force


def reads(instruction: Instruction) -> set[int]:
    """The registers in its slots."""
    return {register for slot, register in enumerate(instruction.src)
            if register != RZ and slot != instruction.imm_slot}


def predicates(instruction: Instruction) -> set[int]:
    """The predicates that it looks at."""
    return {instruction.guard, instruction.psrc} - {PT}


def written(instruction: Instruction) -> set[int]:
    return {instruction.dst} - {RZ}


def depend(first: Instruction, second: Instruction) -> bool:
    """Whether an instruction needs what the one before it writes, writes the same, or writes what it reads."""
    if written(first) & (reads(second) | written(second)) or written(second) & reads(first):
        return True
    return bool(({first.pdst} - {PT}) & (predicates(second) | {second.pdst}))


def pairs(first: Instruction, second: Instruction) -> bool:
    """Whether two neighbours in the same lanes may be a pair."""
    if {Pipe.CONTROL, *(Pipe.MEM,) * (first.pipe is second.pipe)} & {first.pipe, second.pipe}:
        return False
    return not ({first, second} & set(BEATS) or depend(first, second))


def guarded(rng: random.Random) -> Instruction:
    """An instruction with few registers and predicates, often of its own guard, carry and predicate result."""
    if rng.random() < 0.1:
        return rng.choice(BEATS)
    instruction = random_instruction(rng)
    if instruction.pipe is Pipe.CONTROL:
        return instruction
    instruction = replace(instruction, guard=rng.choice([0, 1, 2, PT, PT]))
    if instruction.op is Op.IADD:
        return replace(instruction, psrc=rng.choice([0, 1, PT]), pdst=rng.choice([0, 1, PT]))
    return instruction


def test_neighbours_pair_if_neither_needs_the_other(seed: int) -> None:
    rng, found = random.Random(seed), Counter[bool]()
    for _ in range(4000):
        first, second = guarded(rng), guarded(rng)
        may = may_pair(*(Static(one, lambda offset: 0) for one in (first, second)))
        write_after_read = bool(written(second) & reads(first))  # depends on where the first reads
        assert may == pairs(first, second) or (may and write_after_read), (first, second)
        found[may] += 1
    assert min(found.values()) > 200


def second_of(code: list[Instruction], lead: Lead | None, claim: Claim | None) -> bool:
    """Whether the second of two instructions issues beside the first one, for these decisions."""
    trace = trace_of(code)
    statics = decode(trace)
    warp = Warp(Walk(trace.warps[0], np.zeros(len(statics), bool)), 0, 0, Block([0]), trace)
    warp.next = statics[0]
    decisions: Any = SimpleNamespace(lead=lambda _: lead, follow=lambda _: claim)
    return Pairs(statics, {0: warp}, Scoreboard(1), decisions).second(0) is not None


def test_a_second_may_write_what_the_first_does_not_read_in_the_register_file() -> None:
    """R2 and R3 are sources of the first, and the second writes R2: not if it is read, unless it is compact."""
    code = [Instruction(op=Op.IADD, dst=1, src=(2, 3, RZ)), Instruction(op=Op.MOV, dst=2, imm_slot=0, imm=1)]
    assert not second_of(code, Lead((2, 3)), Claim(0))
    assert second_of(code, Lead((3,), has_compact=True), Claim(0))


@pytest.mark.parametrize(("lead", "claim", "pairs"), [
    (None, Claim(0), False), (Lead(()), None, False), (Lead(()), Claim(0, has_compact=True), True),
    (Lead((), has_compact=True), Claim(0), True), (Lead((), has_compact=True), Claim(0, has_compact=True), False),
])
def test_one_of_a_pair_at_most_has_compact_slots(lead: Lead | None, claim: Claim | None, pairs: bool) -> None:
    code = [Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=1), Instruction(op=Op.MOV, dst=2, imm_slot=0, imm=1)]
    assert second_of(code, lead, claim) == pairs


# ---------------------------------------------------------------------- the whole SM


def machine(*settings: str, preset: str = "small") -> SmConfig:
    return SmConfig.preset(preset).with_settings(["issue_per_warp=2", *settings])


def steps(config: SmConfig, trace: Trace) -> Iterator[Sm]:
    """Each cycle of a run, whose operands and results are compared with those of functional execution."""
    sm = Sm(config, trace, check=True)
    while True:
        sm.step()
        if sm.finished:
            assert sm.checker is not None and sm.checker.checked
            return
        yield sm


def held(sm: Sm, slot: int, instruction: Instruction) -> bool:
    """Whether instructions in flight hold one of a slot's warp: what they write, or still wait to read."""
    in_flight = map(sm.flight, sm._flights)
    flights = [flight.static.instruction for flight in in_flight if flight.warp.slot == slot]
    results = set().union(*map(written, flights))
    flags = {flight.pdst for flight in flights} - {PT}
    waiting = {collector.fields[f"src{k}"] for collector in sm.datapath.operands.collectors for k in range(3)
               if collector.waiting >> k & 1 and collector.fields["warp"] == slot}
    return bool(results & (reads(instruction) | written(instruction)) or written(instruction) & waiting
                or flags & (predicates(instruction) | {instruction.pdst}))


@pytest.mark.parametrize("settings", [("schedulers=1", "collectors=3"), ("schedulers=1", "collectors=8", "banks=2"),
                                      SEVERAL, ("schedulers=4", "collectors=4")], ids=" ".join)
def test_a_second_issues_exactly_if_the_rule_allows_it(settings: tuple[str, ...], seed: int) -> None:
    """In each cycle, for each first instruction, the following one of the trace is held to the rule."""
    rng, found = random.Random(seed), Counter[str]()
    code = [guarded(rng) for _ in range(150)]
    lanes = [ALL_LANES if one.pipe is Pipe.CONTROL else rng.choice([ALL_LANES, ALL_LANES, ALL_LANES, 0xFF, 0])
             for one in code]
    config, trace = machine(*settings), trace_of(code, warps=4, seed=seed, lanes=lanes)
    at = dict.fromkeys(range(4), 0)  # by warp: dynamic instructions that have issued
    for sm in steps(config, trace):
        inputs = [sm.inputs.issue[k : k + 2] for k in range(0, len(sm.inputs.issue), 2)]
        free = sum(sm.datapath.operands.free_collectors)
        for first, second in [*inputs[sm.inputs.first_port :], *inputs[: sm.inputs.first_port]]:
            if first is None:
                assert second is None
                continue
            slot, free = first["warp"], free - 1
            position = next(p for p in range(at[slot], len(code)) if lanes[p] and code[p].pipe is not Pipe.CONTROL)
            a, b = code[position], trace.program.instructions[position + 1]
            may = pairs(a, b) and (*lanes, ALL_LANES)[position + 1] == lanes[position] and not held(sm, slot, b)
            assert (second is not None) == (may and free > 0), (sm.cycle, a, b)
            found["pair" if second else "no collector" if may else "alone"] += 1
            if second is not None:
                assert second["warp"] == slot and second["lanes"] == first["lanes"] and second["op"] == b.op
                assert second["tag"] == (first["tag"] + 1) % 1024
                free -= 1
            at[slot] = position + 1 + (second is not None)
    assert found["pair"] > 10 and found["alone"] > 10


MECHANISMS = ("", "coalescing=on alignment=write", "gating=cross_lane", "coalescing=on gating=in_lane", "affine=a",
              "affine=abm", "affine=abm coalescing=on gating=cross_lane", "bypass=rfc", "coalescing=corf layout=wid",
              "arrival_delay=0 turnaround=0", "sfu_collectors=1 mem_collectors=2", "front_end_interval=2")


@pytest.mark.parametrize("ports", [1, 2, 4])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_values_are_right_with_pairs(mechanism: str, ports: int) -> None:
    """Every operand and result is that of functional execution, and the order of tags is the order of issue."""
    config = machine(*mechanism.split(), "schedulers=4", f"issue_ports={ports}", "collectors=9")
    seconds = 0
    for sm in steps(config, integers(3)):
        first = 2 * sm.inputs.first_port
        taken = [one for one in [*sm.inputs.issue[first:], *sm.inputs.issue[:first]] if one is not None]
        assert all((later["tag"] - one["tag"]) % 1024 < 512 for one, later in pairwise(taken))
        seconds += sum(one is not None for one in sm.inputs.issue[1::2])
    assert seconds


@pytest.mark.parametrize("settings", [(), ("affine=abm",)], ids=["off", "affine"])
@pytest.mark.parametrize("name", ["bfs", "reduction"])
def test_kernels_with_branches_and_barriers(name: str, settings: tuple[str, ...]) -> None:
    found = kernel(name)
    trace = execute(compile_file(found.ptx), found.load("tiny").launch).trace
    assert trace is not None
    config = machine(*settings, "scheduler=two_level", "collectors=8", preset="narrow")
    assert sum(one is not None for sm in steps(config, trace) for one in sm.inputs.issue[1::2])


def test_independent_instructions_issue_two_by_two() -> None:
    """With a collector for each, a warp's independent instructions issue two in a cycle; with one collector, one."""
    code = [Instruction(op=Op.MOV, dst=register, imm_slot=0, imm=register) for register in range(12)]
    for collectors, most in ((8, 2), (1, 1)):
        config = machine("schedulers=1", f"collectors={collectors}", preset="narrow")
        counts = [sum(one is not None for one in sm.inputs.issue) for sm in steps(config, trace_of(code))]
        assert max(counts) == most and sum(counts) == len(code)


def test_windows_take_one_instruction_a_cycle() -> None:
    for bypass in ("bow", "bow_wr", "bow_hints"):
        with pytest.raises(ConfigError, match=f"bypass = {bypass} and issue_per_warp = 2 disagree: a warp's collector"):
            machine(f"bypass={bypass}")


def attempts_beside(affine: str) -> Counter[str]:
    """What the second of a pair with a generic first is, by way."""
    lane = Instruction(op=Op.S2R, dst=1, special=Special.LANEID)
    load = Instruction(op=Op.LD, dst=2, src=(1, RZ, RZ), space=Space.GLOBAL, access=Access.B32)
    code = [lane, load, Instruction(op=Op.FMUL, dst=3, src=(2, 2, RZ)), Instruction(op=Op.IADD, dst=4, src=(1, 1, RZ)),
            Instruction(op=Op.FMUL, dst=5, src=(3, 2, RZ)), Instruction(op=Op.FADD, dst=6, src=(3, 1, RZ)),
            Instruction(op=Op.FADD, dst=7, src=(3, 4, RZ)), Instruction(op=Op.FADD, dst=8, src=(3, 4, RZ))]
    found: Counter[str] = Counter()
    for sm in steps(machine(f"affine={affine}", "collectors=8"), trace_of(code)):
        beside = any(attempt is not None for attempt in sm.inputs.attempts)
        if any(sm.inputs.issue):
            found["attempt" if beside else "pair" if all(sm.inputs.issue[:2]) else "alone"] += 1
    return found


def test_one_of_a_pair_may_use_the_affine_unit() -> None:
    """An attempt issues beside a generic instruction, and one with a compact slot too, but not two of them."""
    found = attempts_beside("a")
    assert found["attempt"] == 1 and found["pair"] == 1 and found["alone"] == 3


def beside(sm: Sm) -> Iterator[tuple[IssueFields, Mapping[str, int], bool]]:
    """The pairs of a cycle: the fields of both instructions, and whether the second is an attempt. That both are the
    program's own, or the second an expansion, and no BARRED or its MOV, is asserted."""
    following = {warp.slot: warp for warp in sm.issuing if isinstance(warp, Follower)}
    for slot, second in following.items():
        place = 2 * (slot % sm.config.issue_ports)
        first, also = sm.inputs.issue[place : place + 2]
        attempt = sm.inputs.attempts[slot % sm.config.schedulers] if sm.inputs.attempts else None
        assert first is not None and first["warp"] == slot and (also or attempt) and not (also and attempt)
        lead = second.warp
        assert first["op"] == lead.next.op == sm.statics[lead.walk.pc].op  # no MOV of a result, no expansion
        assert Op.BARRED not in (lead.next.op, second.next.op)
        assert lead.walk.lanes == second.walk.lanes == first["lanes"]
        yield first, attempt if also is None else also, also is None


@pytest.mark.parametrize(("name", "seconds"), [
    ("bfs", {"generic", "attempt", "expansion"}), ("hotspot", {"generic", "attempt", "expansion", "compact"})])
def test_at_most_one_of_a_pair_is_compact(name: str, seconds: set[str]) -> None:
    """An attempt, an expansion or an instruction with compact slots is never beside another one of these, and no
    partial attempt is a second; all three are seconds."""
    found = kernel(name)
    trace = execute(compile_file(found.ptx), found.load("tiny").launch).trace
    assert trace is not None
    kinds: Counter[str] = Counter()
    for sm in steps(machine("affine=abm", "collectors=8", preset="narrow"), trace):
        for first, second, is_attempt in beside(sm):
            expands = not is_attempt and second["op"] == Op.MOV and second["src0"] == second["dst"]
            kinds["attempt" if is_attempt else "expansion" if expands else "compact" if second["compact"]
                  else "generic"] += 1
            assert not (first["compact"] and (is_attempt or second["compact"]))
            assert not is_attempt or second["full"]
            assert not expands or second["lanes"] == ALL_LANES
    assert kinds.keys() == seconds, kinds


COUNTS = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry counts(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, %r1;
    xor.b32 %r3, %r2, 77;
    setp.gt.u32 %p1, %r3, 500;
    mul.lo.u32 %r4, %r2, %r3;
    barrier.red.popc.aligned.u32 %r5, 0, %p1;
    xor.b32 %r6, %r2, 5;
    xor.b32 %r7, %r3, 6;
    add.u32 %r8, %r6, %r5;
    add.u32 %r9, %r7, %r4;
    add.u32 %r10, %r8, %r9;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r10;
    ret;
}
"""


def test_neither_a_barred_nor_its_mov_is_in_a_pair() -> None:
    """The MOV that writes the count of a BARRED enters alone, though what follows it needs nothing of it."""
    launch = Launch((1, 1, 1), (64, 1, 1), (Buffer("out", np.zeros(64, np.uint32)),))
    trace = execute(compile_ptx(COUNTS, "counts.ptx"), launch).trace
    assert trace is not None
    seconds = alone = 0
    for sm in steps(machine("collectors=8", preset="narrow"), trace):
        moves = {static.then for static in sm.statics if static.then is not None}
        seconds += len([*beside(sm)])
        slots = [warp.slot for warp in sm.issuing]
        alone += sum(warp.next in moves and slots.count(warp.slot) == 1 for warp in sm.issuing)
    assert seconds >= 4 and alone == 2
