"""The linker: one flat kernel with unique names, calls inlined, memory laid out, and clear errors."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.arch.errors import PtxError
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.memory_map import CONSOLE_ASSERT, CONSOLE_PRINT, CONST_WINDOW, FUNCTIONS_BASE, GLOBALS_BASE
from warploom.compiler import ptx
from warploom.compiler.linker import link
from warploom.compiler.parser import parse
from warploom.golden_model.functional.executor import execute

FIXTURES = Path(__file__).parents[1] / "ptx"
BUILDS = ("calls.ptx", "calls_debug.ptx")

HELPER = """
.func (.param .b32 result) helper(.param .b32 value) {
    .reg .b32 %r<3>; .reg .pred p;
    ld.param.u32 %r1, [value];
    setp.eq.s32 p, %r1, 0;
    @p bra done;
    add.s32 %r1, %r1, 1;
done:
    st.param.b32 [result], %r1;
    ret;
}
"""
CALL = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), helper, (a); ld.param.b32 %r2, [b]; }"


def kernel(body: str, before: str = "", parameters: str = "") -> ptx.Kernel:
    """`body` as the only entry, after other module text."""
    text = (
        f"{before}\n.entry k({parameters}) {{ .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;\n"
    )
    return link(parse(f"{text}{body} }}", "k.ptx"))


def listing(linked: ptx.Kernel) -> list[str]:
    """The flat body as text, for comparison: opcode and names."""
    return [f"{item.name}:" if isinstance(item, ptx.Label) else _line(item) for item in linked.body]


def _line(instruction: ptx.Instruction) -> str:
    opcode = ".".join([instruction.opcode, *instruction.modifiers])
    return " ".join([opcode, *map(_text, instruction.operands)])


def _text(operand: ptx.Operand) -> str:
    match operand:
        case ptx.Immediate():
            return str(operand.value)
        case ptx.Address():
            return f"[{_text(operand.base)}+{operand.offset}]"
        case ptx.Vector():
            return "{" + ",".join(map(_text, operand.items)) + "}"
        case ptx.Register() | ptx.Symbol():
            return operand.name
    return str(operand)


def failure(body: str, before: str = "") -> PtxError:
    with pytest.raises(PtxError) as caught:
        kernel(body, before)
    return caught.value


# ---------------------------------------------------------------- scopes


def test_inner_scopes_hide_outer_names() -> None:
    linked = kernel(
        "{ .reg .b64 %r1; mov.b64 %r1, 1; { mov.b64 %r1, 2; } } { .reg .f32 %r1; mov.f32 %r1, 0f00000000; }"
        "mov.b32 %r1, 3;"
    )
    names = [instruction.operands[0].name for instruction in linked.body]
    assert names[0] == names[1]
    assert len(set(names)) == 3
    assert [linked.registers[name] for name in names] == ["b64", "b64", "f32", "b32"]


def test_labels_of_two_scopes_stay_apart() -> None:
    lines = listing(kernel("{ L: bra L; } { L: bra M; bra L; } M: ret;"))
    first, _, second, _, _, last, _ = lines
    assert len({first, second, last}) == 3
    assert lines == [first, f"bra {first[:-1]}", second, "bra M", f"bra {second[:-1]}", "M:", "ret"]


def test_only_used_registers_are_listed() -> None:
    assert kernel("mov.b32 %r1, %r3; mov.b32 _, %tid.x;").registers == {"%r1": "b32", "%r3": "b32"}


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ("add.s32 %r1, %r2, %r77;", 19, "register '%r77' is not declared; '.reg %r<9>' ends before it"),
        ("add.s32 %r1, %r02, 5;", 14, "register '%r02' is not declared"),
        ("add.s32 %r1, %rr2, 5;", 14, "register '%rr2' is not declared"),
        ("@%p7 ret;", 2, "register '%p7' is not declared"),
        ("ld.global.u32 %r1, [lookup];", 21, "variable 'lookup' is not declared; nearest: lookup0"),
        ("$L_1: bra $L_2;", 11, "label '$L_2' is not declared; nearest: $L_1"),
        ("@%p1 bra;", 6, "bra: takes 1 operand, 0 given"),
        ("L: bra L, L;", 4, "bra: takes 1 operand, 2 given"),
        ("bra %r1;", 5, "a branch needs a label, and '%r1' is a register"),
        ("L: bra L+8;", 4, "a branch needs a label, without an offset"),
        ("L: mov.b32 %r1, L;", 17, "label 'L' cannot be an operand of 'mov.b32'"),
        ("mov.b64 %rd1, f+8;", 15, "the address of a function cannot have an offset"),
        ("call lop;", 6, "function 'lop' is not declared; nearest: loop"),
        ("call f;", 6, "function 'f' is not defined in this file"),
        ("call %rd1;", 1, "a call through a pointer ends in the name of a .callprototype, of .calltargets or"),
        ("call malloc;", 6, "'malloc' is not supported: there is no device heap"),
        ("call cudaCGSynchronize;", 6, "'cudaCGSynchronize' is not supported: there is no device runtime, so a kernel"),
        ("call deep, (lookup0);", 1, "a call can only pass .param variables of its function, registers and constants;"),
        ("call deep, (%rd1);", 1, "parameter 'n' has 4 bytes, the call gives 8"),
        ("{ .param .b8 a[4]; call array, (%r1); }", 20, "a call can only pass .param variables"),
        ("{ .param .b8 a[4]; call deep, (a+1); }", 20, "a call can only pass .param variables"),
        ("{ .param .b8 a[40000]; call large, (a); }", 24, "parameter 'n' has 40000 bytes, and 32768 is the limit"),
        ("{ .param .b64 a; mov.b64 %rd1, a; }", 32, "the address of 'a', a call's parameter, cannot be taken; copy"),
        ("{ .param .b64 a; mov.b64 %rd1, {a, %r1}; }", 33, "the address of 'a', a call's parameter, cannot be taken"),
        ("call textured, (%rd1);", 1, "variables of type .texref are not supported"),
        ("call wide, (%r1);", 1, "parameter 'n' has 8 bytes, the call gives 4"),
        ("call deep, (_);", 1, "a call can only pass .param variables"),
        ("call array, (5);", 1, "a call can only pass .param variables"),
        ("call (5), result;", 1, "a call can only return to .param variables of its function, registers and _;"),
        ("call deep;", 6, "'deep' has 1 parameters, the call gives 0"),
        ("call result;", 6, "'result' has 1 results, the call gives 0"),
        ("{ .param .b64 a; call deep, (a); }", 18, "parameter 'n' has 4 bytes, the call gives 8"),
        ("L: brx.idx %r1, L;", 17, "'L' is not a table: write 'L: .branchtargets' with the labels"),
        ("L: T: .branchtargets L; brx.idx %rd1, T;", 25, "the index of a table must be a register of 32 bits"),
        ("L: T: .branchtargets L; brx.idx {%r1, %r2}, T;", 25, "the index of a table must be a register of 32 bits"),
        ("brx.idx %r1;", 1, "supported is brx.idx (.uni) with an index and a table"),
        ("T: .branchtargets L, M; L: brx.idx %r1, T;", 0, "label 'M' is not declared"),
        ("T: .branchtargets f;", 0, "a table needs labels, and 'f' is a function"),
        ("T: .branchtargets T;", 0, "a table needs labels, and 'T' is a table"),
        ("T: .branchtargets U; L: U: .branchtargets L;", 0, "a table needs labels, and 'U' is a table"),
        ("L: T: .branchtargets L; bra T;", 29, "a branch needs a label, and 'T' is a table"),
        ("mov.b64 %rd1, tex;", 15, "variables of type .texref are not supported"),
        ("ld.global.u32 %r1, [elsewhere];", 21, "variable 'elsewhere' is not defined in this file"),
        ("mov.b32 %r1+4, %r2;", 9, "a register can have an offset only in an address"),
        ("mov.b32 %r1, %tid.x+4;", 14, "a register can have an offset only in an address"),
        (".reg .b32 %r4;", 0, "'%r4' is declared twice in one scope"),
        ("L: L: ret;", 0, "'L' is declared twice in one scope"),
        (".reg .b32 %r<3>;", 0, "'%r<3>' is declared twice in one scope"),
        ("not.pred %p1, !lookup0;", 16, "'lookup0' is not a register"),
        ("{" * 101 + "}" * 101, 0, "blocks and calls are nested more than 100 deep"),
    ],
)
def test_error_names_place_and_remedy(body: str, column: int, message: str) -> None:
    before = (
        ".extern .func f(); .extern .func malloc(); .extern .func cudaCGSynchronize();"
        " .func deep(.param .b32 n) { ret; } .func loop() { ret; }"
        ".func wide(.param .b64 n) { ret; } .func (.param .b32 n) result() { ret; }"
        ".func array(.param .b8 n[4]) { ret; } .func large(.param .b8 n[40000]) { ret; }"
        ".func textured(.param .texref n) { ret; }"
        " .global .b32 lookup0; .global .texref tex; .extern .global .b32 elsewhere;"
    )
    error = failure(body, before)
    assert error.message.startswith(message)
    assert (error.file, error.column) == ("k.ptx", column)
    assert "\n" not in str(error)


# ---------------------------------------------------------------- entries


def test_entry_must_be_named_and_exist() -> None:
    module = parse(".entry one() { ret; } .entry two() { ret; }", "two.ptx")
    assert link(module, "two").name == "two"
    with pytest.raises(PtxError, match=r"two\.ptx: name the entry: the file has 2 \(one, two\)"):
        link(module)
    with pytest.raises(PtxError, match=r"there is no entry 'three'; entries: one, two"):
        link(module, "three")
    for text in ("", ".visible .entry declared(.param .u64 n);"):
        with pytest.raises(PtxError, match="has no kernel"):
            link(parse(text))


def test_of_many_entries_a_message_names_the_first_ones() -> None:
    module = parse("".join(f".entry e{n}() {{ ret; }}\n" for n in range(3000)), "many.ptx")
    for name, message in ((None, r"the file has 3000 \(e0, "), ("none", "there is no entry 'none'; entries: e0, ")):
        with pytest.raises(PtxError, match=message + r".*, e19 and 2,980 more\)?$"):
            link(module, name)


@pytest.mark.parametrize("text", [".func f() { ret; } .func f() { ret; }", ".global .b32 v; .const .b32 v;"])
def test_second_definition(text: str) -> None:
    with pytest.raises(PtxError, match="is defined twice"):
        link(parse(text + ".entry k() { ret; }"))


# ---------------------------------------------------------------- calls


def test_call_becomes_moves_and_branches() -> None:
    lines = listing(kernel(CALL, HELPER))
    assert lines == [
        "mov.b32 a@1+0 %r1",
        "mov.b32 value@2+0 a@1+0",
        "mov.b32 %r1@2 value@2+0",
        "setp.eq.s32 p@2 %r1@2 0",
        "bra done@2",
        "add.s32 %r1@2 %r1@2 1",
        "done@2:",
        "mov.b32 result@2+0 %r1@2",
        "helper@2@end:",
        "mov.b32 b@1+0 result@2+0",
        "mov.b32 %r2 b@1+0",
    ]


def test_copies_share_variables_but_not_registers() -> None:
    before = (
        ".func f() { .reg .b32 x; .local .b32 l; { .local .b32 l; ld.local.b32 x, [l]; } st.local.b32 [l], x; ret; }"
    )
    linked = kernel("call f; call f;", before)
    assert len([name for name in linked.registers if name.startswith("x")]) == 2
    assert sorted(linked.base.values()) == [0, 4]
    assert linked.local_bytes == 8


def test_each_block_has_variables_of_its_own() -> None:
    blocks = "{ .local .b32 l; st.local.b32 [l], x; { .local .b32 l; st.local.b32 [l], x; } } " * 6
    linked = kernel(f".reg .b32 x; {blocks} call f;", f".func f() {{ .reg .b32 x; {blocks} }}")
    assert linked.local_bytes == 4 * len(linked.base) == 4 * 2 * 2 * 6


def test_empty_function_and_deep_chain() -> None:
    assert listing(kernel("call f;", ".func f() { }")) == ["f@1@end:"]
    chain = "".join(f".func f{number}() {{ call f{number + 1}; }} " for number in range(100))
    assert len(kernel("call f1;", chain + ".func f100() { ret; }").body) == 100
    assert "nested more than 100 deep" in failure("call f0;", chain + ".func f100() { ret; }").message


def test_functions_that_call_each_other_stand_once_for_each_call_from_outside() -> None:
    functions = ".func f() { call g; call f; } .func g() { call f; call g; } .func h() { call f; }"
    calls = kernel("call h; call g;", ".func g();" + functions).calls
    assert [(call.callee.function, call.enters, call.number) for call in calls] == [
        ("f", True, -1), ("g", False, 0), ("f", False, 1), ("g", False, 2), ("f", False, 3),
        ("g", True, -1), ("f", False, 0), ("g", False, 1), ("f", False, 2), ("g", False, 3)]
    assert len({call.callee for call in calls}) == 4


@pytest.mark.parametrize(("call", "result"), [
    ("@%p1 call (%r1), f, (%r2);", "mov.b32 %r1 o@1+0"),
    ("{ .param .b32 a; @%p1 call (a), f, (%r2); ld.param.b32 %r1, [a]; }", "mov.b32 a@1+0 o@2+0"),
])
def test_lanes_that_do_not_call_take_no_result(call: str, result: str) -> None:
    before = ".func (.param .b32 o) f(.param .b32 i) { .reg .b32 x; ld.param.b32 x, [i]; st.param.b32 [o], x; ret; }"
    linked = kernel(call, before)
    guards = dict(zip(listing(linked), (getattr(item, "guard", None) for item in linked.body), strict=True))
    assert {line: guard for line, guard in guards.items() if guard} == {
        listing(linked)[0]: ptx.Not(ptx.Register("%p1")), result: ptx.Register("%p1")}


def test_a_label_may_have_the_name_of_its_function() -> None:
    found = listing(kernel("call f; ret;", ".func f() { .reg .pred p; f: @p bra f; }"))
    assert found == ["f@1:", "bra f@1", "f@1@end:", "ret"]


def test_fan_out_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warploom.compiler.inline.MAX_INSTRUCTIONS", 1000)
    chain = "".join(f".func f{number}() {{ {f'call f{number + 1}; ' * 2} }} " for number in range(90))
    assert "inlining makes more than 1000 instructions" in failure("call f0;", chain + ".func f90() { }").message


def test_registers_whose_prefix_ends_in_a_digit() -> None:
    assert kernel(".reg .b64 %x1<12>; mov.b64 %x111, %x10;").registers == {"%x111": "b64", "%x10": "b64"}


def test_the_largest_parameter() -> None:
    call = "{ .param .b8 a[32768]; call f, (a); }"
    assert listing(kernel(call, ".func f(.param .b8 n[32768]) { ret; }")) == ["f@2@end:"]


def test_early_and_guarded_returns_branch_to_the_end() -> None:
    before = ".func f() { .reg .pred p; @!p ret; exit; ret; }"
    linked = kernel("@%p1 call f; ret;", before)
    assert listing(linked) == ["bra f@1@end", "bra f@1@end", "exit", "f@1@end:", "ret"]
    assert [item.guard for item in linked.body[:2]] == [ptx.Not(ptx.Register("%p1")), ptx.Not(ptx.Register("p@1"))]
    assert kernel("@!%p1 call f; ret;", before).body[0].guard == ptx.Register("%p1")


def test_a_function_may_end_with_another_branch() -> None:
    found = listing(kernel("call f; ret;", ".func f() { bra B; A: ret; B: bra A; }"))
    assert found == ["bra B@1", "A@1:", "bra f@1@end", "B@1:", "bra A@1", "f@1@end:", "ret"]


@pytest.mark.parametrize(
    ("store", "load", "moves"),
    [
        ("st.param.b32 [a], %r1", "ld.param.f32 %r2, [a]", ["mov.b32 a@1+0 %r1", "mov.b32 %r2 a@1+0"]),
        ("st.param.b32 [a], %r1", "ld.param.s8 %rs1, [a]", ["mov.b32 a@1+0 %r1", "cvt.s16.s8 %rs1 a@1+0"]),
        ("st.param.b32 [a], %r1", "ld.param.u16 %rs1, [a]", ["mov.b32 a@1+0 %r1", "cvt.u16.u32 %rs1 a@1+0"]),
        ("st.param.b8 [a], %r1", "ld.param.b8 %r2, [a]", ["cvt.u16.u32 a@1+0 %r1", "cvt.u32.u8 %r2 a@1+0"]),
        ("st.param.b16 [a], %rs1", "ld.param.s16 %rd1, [a]", ["mov.b16 a@1+0 %rs1", "cvt.s64.s16 %rd1 a@1+0"]),
        ("st.param.b32 [a], 7", "ld.param.b32 _, [a]", ["mov.b32 a@1+0 7"]),
        ("st.param.b8 [a], 7", "ld.param.b8 %r2, [a]", ["mov.b16 a@1+0 7", "cvt.u32.u8 %r2 a@1+0"]),
        (
            "st.param.f32 [a], 0d3FF8000000000000",
            "ld.param.b32 %r2, [a]",
            [f"mov.f32 a@1+0 {0x3FF8 << 48}", "mov.b32 %r2 a@1+0"],
        ),
        (
            "st.param.v2.b32 [a], {%r1, %r2}",
            "ld.param.v2.u32 {%r3, %r4}, [a]",
            ["mov.b32 a@1+0 %r1", "mov.b32 a@1+4 %r2", "mov.b32 %r3 a@1+0", "mov.b32 %r4 a@1+4"],
        ),
        ("st.param.b32 [a+4], %r1", "ld.param.b32 %r2, [a]", ["mov.b32 %r2 0"]),
        (
            "st.param.b64 [a], %rd1",
            "ld.param.b32 %r2, [a+4]",
            ["st.local.b64 [a@1+0] %rd1", "ld.local.b32 %r2 [a@1+4]"],
        ),
        (
            "st.param.b64 [a], %rd1",
            "ld.param.b32 %r2, [a]",
            ["st.local.b64 [a@1+0] %rd1", "ld.local.b32 %r2 [a@1+0]"],
        ),
        (
            "st.param.b32 [a+2], %r1",
            "ld.param.b32 %r2, [a+2]",
            ["st.local.b32 [a@1+2] %r1", "ld.local.b32 %r2 [a@1+2]"],
        ),
        (
            "st.param.v2.b32 [a+4], {%r1, %r2}",
            "ld.param.b32 %r3, [a+4]",
            ["st.local.v2.b32 [a@1+4] {%r1,%r2}", "ld.local.b32 %r3 [a@1+4]"],
        ),
        (
            "st.param.b32 [a+16], %r1",
            "ld.param.b32 %r2, [a+16]",
            ["st.local.b32 [a@1+16] %r1", "ld.local.b32 %r2 [a@1+16]"],
        ),
        ("st.param.b8 [a], %rs1", "ld.param.u16 %rs2, [a]", ["st.local.b8 [a@1+0] %rs1", "ld.local.u16 %rs2 [a@1+0]"]),
    ],
)
def test_parameter_pieces(store: str, load: str, moves: list[str]) -> None:
    linked = kernel(f"{{ .param .b8 a[16]; {store}; {load}; }}")
    assert listing(linked) == moves
    assert linked.local_bytes == (16 if "local" in "".join(moves) else 0)


def test_a_parameter_of_a_call_may_have_the_name_of_a_variable() -> None:
    linked = kernel("mov.b64 %rd1, v; .param .b32 v; st.param.b32 [v], %r1; ld.param.b32 %r2, [v];", ".global .b32 v;")
    assert listing(linked) == ["mov.b64 %rd1 v", "mov.b32 v@+0 %r1", "mov.b32 %r2 v@+0"]


def test_names_of_the_entry_hide_those_of_variables_but_not_from_functions() -> None:
    before = ".global .b32 v; .global .b32 w; .func f() { .reg .b32 x; ld.global.b32 x, [v]; ld.global.b32 x, [w]; }"
    linked = kernel(".shared .b32 v; st.shared.b32 [v], %r1; ld.param.b32 %r2, [w]; call f;", before, ".param .b32 w")
    names = [_text(item.operands[item.opcode == "ld"]) for item in linked.body if isinstance(item, ptx.Instruction)]
    assert names[2:] == ["[v+0]", "[w+0]"] and len(set(names)) == 4
    assert {name: variable.space for name, variable in linked.variables.items()} == {
        "v": "global", "w": "global", names[0].strip("[]").removesuffix("+0"): "shared"}


@pytest.mark.parametrize(("size", "target", "source", "word"), [
    (16, 8, 8, 8), (12, 8, 8, 4), (16, 8, 4, 4), (16, 4, 8, 4), (6, 2, 8, 2), (3, 1, 1, 1)])
def test_a_parameter_in_memory_is_copied_in_words(size: int, target: int, source: int, word: int) -> None:
    """They are as wide as the size and both alignments allow."""
    before = f".func f(.param .align {target} .b8 a[{size}]) {{ .reg .b64 p; mov.u64 p, a; ret; }}"
    linked = kernel(f"{{ .param .align {source} .b8 b[{size}]; call f, (b); }}", before)
    register = f"a@2+b{8 * word}"
    copies = [(f"ld.local.b{8 * word} {register} [b@1+{offset}]", f"st.local.b{8 * word} [a@2+{offset}] {register}")
              for offset in range(0, size, word)]
    assert listing(linked) == [*(line for copy in copies for line in copy), "mov.u64 p@2 a@2", "f@2@end:"]
    assert linked.registers[register] == ("b16" if word == 1 else f"b{8 * word}"), "there are no 8-bit registers"


def test_results_that_two_calls_pass_on() -> None:
    before = ".func (.param .b32 o) g() { st.param.b32 [o], 7; ret; } .func (.param .b32 r) f() { call (r), g; ret; }"
    calls = "call (x), f; ld.param.b32 %r1, [x]; " * 2
    expected = ["mov.b32 o+0 7", "g@end:", "mov.b32 r+0 o+0", "f@end:", "mov.b32 x+0 r+0", "mov.b32 %r1 x+0"]
    found = listing(kernel(f"{{ .param .b32 x; {calls} }}", before))
    assert [re.sub(r"@\d", "", line) for line in found] == expected * 2


def test_a_function_may_take_the_address_of_its_own_parameter() -> None:
    before = ".func f(.param .b8 a[8]) { .reg .b64 %p; .reg .b16 %v; mov.u64 %p, a; ld.param.u16 %v, [%p+2]; ret; }"
    linked = kernel("{ .param .b8 b[8]; st.param.b64 [b], %rd1; call f, (b); }", before)
    assert [line for line in listing(linked) if "%p" in line] == ["mov.u64 %p@2 a@2", "ld.local.u16 %v@2 [%p@2+2]"]
    assert linked.local_bytes == 16


def test_a_function_may_pass_the_address_of_its_own_parameter() -> None:
    before = (
        ".func g(.param .b64 n) { .reg .b64 %p; ld.param.b64 %p, [n]; ret; } .func f(.param .b32 own) { .reg .b32 %v;"
        "ld.param.b32 %v, [own]; { .param .b64 b; st.param.b64 [b], own; call g, (b); } ret; }"
    )
    linked = kernel("{ .param .b32 a; st.param.b32 [a], %r1; call f, (a); }", before)
    assert list(linked.variables) == ["a@1", "own@2"]
    assert [line for line in listing(linked) if line.endswith("own@2")] == ["mov.b64 b@3+0 own@2"]


def test_print_and_assert_store_to_the_console() -> None:
    before = (
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);"
        ".extern .func __assert_fail(.param .b64 t, .param .b64 f, .param .b32 l, .param .b64 n);"
    )
    call = "{ .param .b64 f; .param .b64 a; .param .b32 r;\n call (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }"
    fail = "{ .param .b64 t; .param .b32 l; call __assert_fail, (t, t, l, t); }"
    linked = kernel(call + fail, before)
    stores = [line for line in listing(linked) if line.startswith("st.global")]
    assert [line.split()[1] for line in stores] == [f"[{CONSOLE_PRINT}+0]", f"[{CONSOLE_ASSERT}+0]"]
    assert {item.line for item in linked.body} == {4}, "a call's line, not one of the function's own text"
    assert linked.local_bytes == 24 + 32
    with pytest.raises(PtxError, match="'__assert_fail' has 4 parameters, the call gives 0"):
        kernel("call __assert_fail;", ".extern .func __assert_fail();")


@pytest.mark.parametrize("build", BUILDS)
def test_calls_compute_what_the_source_says(build: str) -> None:
    pairs = np.zeros(32, dtype=[("number", "i4"), ("letter", "i1"), ("padding", "i1", 3)])
    pairs["number"], pairs["letter"] = np.arange(32) * 37 - 500, np.arange(32) * 9 - 128
    arguments = (Buffer("pairs", pairs), Buffer("out", np.zeros(32, "i4")), Scalar("s32", np.int32(50).tobytes()))
    from warploom.compiler.compile import compile_file

    program = compile_file(FIXTURES / build)
    out = execute(program, Launch((1, 1, 1), (32, 1, 1), arguments, dynamic_shared=128)).buffers["out"]
    number, letter = pairs["letter"].astype(int), pairs["number"].astype(np.int8).astype(int)
    expected = 7 + np.clip(number, -50, 50) + np.clip(letter, -100, 100) + np.tile([1, 2, 0, 0], 8)
    np.testing.assert_array_equal(out, expected)


# ---------------------------------------------------------------- memory


def test_module_memory_holds_every_variable_in_order() -> None:
    before = (
        ".global .align 4 .b8 a[5] = {1, 2, 3, 4, 5}; .const .b16 c[3] = {7, 8, 9}; .const .b64 d = 10;"
        ".global .u64 p[3] = {generic(c)+2, a, f}; .func f() { ret; } .global .u64 q = c+4; .global .b32 unused;"
    )
    base = {"a": GLOBALS_BASE, "p": GLOBALS_BASE + 8, "q": GLOBALS_BASE + 32, "unused": GLOBALS_BASE + 40}
    for body in ("ret;", "mov.b64 %rd1, unused; mov.b64 %rd1, a; ret;"):
        linked = kernel(body, before)
        assert linked.base == base | {"c": 0, "d": 8}
        addresses = np.array([CONST_WINDOW + 2, GLOBALS_BASE, FUNCTIONS_BASE, 4], "u8").tobytes()
        assert linked.globals == bytes([1, 2, 3, 4, 5, 0, 0, 0]) + addresses + bytes(4)
        assert linked.constants == np.array([7, 8, 9, 0, 10, 0, 0, 0], "u2").tobytes()


def test_initialisers_of_static_variables_of_a_kernel() -> None:
    """They may name functions, and variables that nothing else names."""
    before = ".func f() { ret; } .global .b64 a; .global .b64 b[2];"
    body = ".global .b64 s; .global .u64 p[3] = {f, b + 8, s}; ld.global.u64 %rd1, [p]; ret;"
    linked = kernel(body, before)
    b, s, p = (linked.base[name] for name in ("b", "s@k", "p@k"))
    assert np.frombuffer(linked.globals, "u8")[(p - GLOBALS_BASE) // 8 :][:3].tolist() == [FUNCTIONS_BASE, b + 8, s]


def test_generic_is_also_a_name() -> None:
    linked = kernel("ret;", ".const .b32 generic; .global .u64 p[2] = {generic (generic), generic+4};")
    assert linked.globals == np.array([CONST_WINDOW, 4], "u8").tobytes()


def test_shared_memory_static_then_dynamic() -> None:
    static = ".shared .b8 s[5]; .shared .align 8 .b8 t[4]; .shared .b8 unused[64];"
    dynamic = ".extern .shared .align 16 .b8 x[]; .extern .shared .b32 y[];"
    linked = kernel("mov.b64 %rd1, x; mov.b64 %rd2, s; mov.b64 %rd2, t; mov.b64 %rd3, y;", static + dynamic)
    assert linked.base == {"s": 0, "t": 8, "x": 16, "y": 16}
    assert linked.shared_bytes == 16


def test_memory_limits() -> None:
    assert "does not fit .local memory" in failure("mov.b64 %rd1, x;", ".local .b8 x[5000000000];").message
    assert "268435456 is the limit" in failure("ret;", ".global .b8 x[300000000];").message
    assert "refers to 'y', which is not defined here" in failure("ret;", ".global .u64 x = y;").message


def test_threads() -> None:
    linked = link(parse(".entry k() .maxntid 8, 4 {\n  ret; // done\n}"))
    assert (linked.max_threads, linked.block) == (32, ())
    linked = link(parse(".entry k() .reqntid 8, 4 { ret; }"))
    assert (linked.max_threads, linked.block) == (0, (8, 4, 1))


# ---------------------------------------------------------------- any text at all


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """A fixture after a few deletions, swaps, duplications, insertions, or a cut at the end."""
    text = (FIXTURES / draw(st.sampled_from(("calls.ptx", "syntax.ptx")))).read_text()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(1, 30))
        middle = (start + end) // 2
        kind = draw(st.sampled_from(("delete", "swap", "double", "insert", "cut")))
        piece = {
            "delete": "",
            "swap": text[middle:end] + text[start:middle],
            "double": text[start:end] * 2,
            "insert": draw(st.text(max_size=5)) + text[start:end],
            "cut": text[start:end],
        }[kind]
        text = text[:start] + piece + ("" if kind == "cut" else text[end:])
    return text


@settings(max_examples=300)
@given(mutants())
def test_any_text_links_or_is_refused(text: str) -> None:
    try:
        module = parse(text, "mutant.ptx")
        linked = [link(module, function.name) for function in module.functions if function.is_entry and function.body]
    except PtxError as error:
        assert "\n" not in str(error)
        assert error.file == "mutant.ptx"
        return
    assert all(item.opcode != "call" for kernel in linked for item in kernel.body if isinstance(item, ptx.Instruction))


@settings(max_examples=200)
@given(st.text(alphabet='.entry k(){}[];,@!%|<>=+-0x1fld"/*\n\t', max_size=60))
def test_random_text(text: str) -> None:
    try:
        parse(text)
    except PtxError as error:
        assert error.line
