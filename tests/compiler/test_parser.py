"""The PTX parser: nvcc's output becomes data, and illegal text gives one clear line."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warploom.arch.errors import PtxError
from warploom.compiler import ptx
from warploom.compiler.parser import parse
from warploom.compiler.ptx import Address, Immediate, Not, Pair, Register, Symbol, Vector

FIXTURES = Path(__file__).parents[1] / "ptx"


@pytest.fixture(scope="module")
def module() -> ptx.Module:
    return parse((FIXTURES / "syntax.ptx").read_text(), "syntax.ptx")


@pytest.fixture(scope="module")
def statements(module: ptx.Module) -> tuple[ptx.Statement, ...]:
    (kernel,) = (function for function in module.functions if function.is_entry)
    assert kernel.body
    return kernel.body.body


def instruction(text: str) -> ptx.Instruction:
    """The one instruction `text` in a separate entry."""
    (function,) = parse(f".entry k() {{ {text} }}").functions
    assert function.body
    (only,) = function.body.body
    assert isinstance(only, ptx.Instruction)
    return only


def failure(text: str) -> PtxError:
    with pytest.raises(PtxError) as caught:
        parse(text, "bad.ptx")
    return caught.value


# ---------------------------------------------------------------- module


def test_header(module: ptx.Module) -> None:
    assert (module.file, module.version, module.target) == ("syntax.ptx", "9.0", "sm_75, texmode_independent")


@pytest.mark.parametrize(
    ("name", "shape", "image"),
    [
        ("matrix", ("global", "s32", 24, 4), "01000000 feffffff 00000000 10000000"),
        ("quad", ("global", "f32", 16, 16), "0000c03f 0000803f 00000040 000080be"),
        ("literals", ("const", "b32", 16, 4), "ff000000 0f000000 05000000 00000040"),
        ("doubles", ("const", "f64", 16, 8), "000000000000f83f 000000000000d03f"),
        ("managed", ("global", "u32", 4, 4), "05000000"),
        ("dynamic", ("shared", "b8", 0, 16), ""),
        ("fixed", ("shared", "b8", 12, 8), ""),
        ("packed", ("global", "u8", 9, 1), "07 0000000000000000"),
    ],
)
def test_variable(module: ptx.Module, name: str, shape: tuple[str, str, int, int], image: str) -> None:
    (variable,) = (variable for variable in module.variables if variable.name == name)
    assert (variable.space, variable.type, variable.size, variable.alignment) == shape
    assert variable.initial == bytes.fromhex(image)
    assert variable.extern == (name == "dynamic")


def test_pointers_in_initialisers(module: ptx.Module) -> None:
    pointers = {variable.name: variable.pointers for variable in module.variables if variable.pointers}
    assert pointers == {
        "pointers": (
            (0, Symbol("matrix", 8), True, range(8)),
            (8, Symbol("doubles"), False, range(8)),
            (24, Symbol("literals"), True, range(8)),
        ),
        "packed": tuple((1 + byte, Symbol("matrix", 4), True, range(byte, byte + 1)) for byte in range(8)),
    }


@pytest.mark.parametrize(
    ("declaration", "image"),
    [
        (".f32 x = 1e300", "0000807f"),
        (".f32 x = -1e300", "000080ff"),
        (".f32 x = 0d3FF8000000000000", "0000c03f"),
        (".f64 x = 0d3FF8000000000000", "000000000000f83f"),
        (".f64 x = -1", "000000000000f0bf"),
        (".s16 x[3] = {-1, 0x1FFFF}", "ffff ffff"),
        (".b64 x = -2", "feffffffffffffff"),
        (".v2 .u16 x[2] = {{1, 2}, {3}}", "0100 0200 0300"),
    ],
)
def test_literals_take_the_type_of_the_variable(declaration: str, image: str) -> None:
    (variable,) = parse(f".global {declaration};").variables
    assert variable.initial == bytes.fromhex(image)


def test_functions(module: ptx.Module) -> None:
    functions = {function.name: function for function in module.functions}
    kernel = functions["kernel"]
    assert kernel.is_entry
    assert kernel.max_threads == 32
    assert [(p.name, p.size, p.alignment) for p in kernel.parameters] == [("out", 8, 8), ("block", 24, 8)]
    assert functions["helper"].body is None
    assert functions["helper"].returns[0].size == 8
    assert functions["other"].body == functions["helper_body"].body


# ---------------------------------------------------------------- statements


def test_statements(statements: tuple[ptx.Statement, ...]) -> None:
    assert ptx.Registers("pred", (("%p", 3), ("q", 0)), 31) in statements
    assert [item.name for item in statements if isinstance(item, ptx.Label)] == ["$L__BB0_1", "targets", "$L__BB0_2"]
    (block,) = (item for item in statements if isinstance(item, ptx.Block))
    assert [type(item) for item in block.body] == [ptx.Registers, ptx.Registers, ptx.Instruction, ptx.Instruction]
    (stack,) = (item for item in statements if isinstance(item, ptx.Variable))
    assert (stack.space, stack.size) == ("local", 16)


def test_every_instruction_knows_its_place(statements: tuple[ptx.Statement, ...]) -> None:
    lines = (FIXTURES / "syntax.ptx").read_text().splitlines()
    instructions = [item for item in statements if isinstance(item, ptx.Instruction)]
    assert len(instructions) == 12
    for item in instructions:
        assert lines[item.line - 1][item.column - 1 :].startswith(item.full_opcode)


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("setp.lt.s32 %p1|q, %r1, -3;", (Pair(Register("%p1"), Register("q")), Symbol("%r1"), Immediate("int", -3))),
        ("and.pred %p1, %p2, !%p3;", (Symbol("%p1"), Symbol("%p2"), Not(Register("%p3")))),
        ("ld.global.u32 %r1, [%rd1+-4];", (Symbol("%r1"), Address(Symbol("%rd1"), -4))),
        ("st.shared.u8 [sm+0x10], 1;", (Address(Symbol("sm"), 16), Immediate("int", 1))),
        ("ld.const.u32 %r1, [64];", (Symbol("%r1"), Address(Immediate("int", 64)))),
        ("mov.b64 {%r1, _}, %rd1;", (Vector((Symbol("%r1"), Symbol("_"))), Symbol("%rd1"))),
        ("mov.u64 %rd1, table+24;", (Symbol("%rd1"), Symbol("table", 24))),
        ("mov.u32 %r1, WARP_SZ;", (Symbol("%r1"), Immediate("int", 32))),
        ("mov.u32 %r1, WARP_SZ+1;", (Symbol("%r1"), Immediate("int", 33))),
        ("mov.u32 %r1, %ctaid.y;", (Symbol("%r1"), Symbol("%ctaid.y"))),
        ("mov.f32 %f1, 0f3F800000;", (Symbol("%f1"), Immediate("f32", 0x3F800000))),
        ("mov.f32 %f1, -0f3F800000;", (Symbol("%f1"), Immediate("f32", 0xBF800000))),
        ("mov.f64 %fd1, 0dBFF0000000000000;", (Symbol("%fd1"), Immediate("f64", 0xBFF0000000000000))),
        ("mov.f64 %fd1, 0.5;", (Symbol("%fd1"), Immediate("f64", 0x3FE0000000000000))),
        ("mov.f64 %fd1, -.5e0;", (Symbol("%fd1"), Immediate("f64", 0xBFE0000000000000))),
        ("mov.b32 %r1, 0xFFFFFFFFU;", (Symbol("%r1"), Immediate("int", 0xFFFFFFFF))),
        ("suld.b.1d.b32 a, [t, {x}];", (Symbol("a"), Vector((Symbol("t"), Vector((Symbol("x"),)))))),
        ("bar.sync 0;", (Immediate("int", 0),)),
        ("ret;", ()),
    ],
)
def test_operands(text: str, operands: tuple[ptx.Operand, ...]) -> None:
    assert instruction(text).operands == operands


def test_guard_and_modifiers() -> None:
    guarded = instruction("@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, %f2}, [%rd1];")
    assert guarded.guard == Not(Register("%p1"))
    assert (guarded.opcode, guarded.modifiers[-3:]) == ("ld", ("L2::128B", "v2", "f32"))
    assert guarded.full_opcode == "ld.global.nc.L1::no_allocate.L2::128B.v2.f32"


@pytest.mark.parametrize("text", ["@!%p1 mov.u32 %r1, %r2;", "@!%p1 mov.v2.u32 {%r1, %r2}, %r3;"])
def test_a_guard_may_be_negated_in_any_instruction(text: str) -> None:
    assert instruction(text).guard == Not(Register("%p1"))
    assert instruction(text.replace("!", "")).guard == Register("%p1")


@pytest.mark.parametrize(("text", "kind"), [("0F3F800000", "f32"), ("0f3F800000", "f32"), ("0D3FF0000000000000", "f64"),
                                            ("0d3FF0000000000000", "f64")])
def test_bits_of_numbers_in_either_case(text: str, kind: str) -> None:
    assert instruction(f"mov.b32 %r1, {text};").operands[1] == Immediate(kind, int(text[2:], 16))


def test_an_offset_may_stand_inside_and_behind_generic() -> None:
    _, variable = parse(".global .u32 x[4]; .global .u64 p = generic(x+4)+8;").variables
    assert variable.pointers == ((0, Symbol("x", 12), True, range(8)),)


@pytest.mark.parametrize(("directives", "threads", "block"), [
    (".reqntid 8, 4, 2", 0, (8, 4, 2)), (".maxntid 8, 4", 32, ()),
    (".minnctapersm 2 .maxntid 96 .reqntid 64, 1", 96, (64, 1, 1))])
def test_the_threads_of_a_block(directives: str, threads: int, block: tuple[int, ...]) -> None:
    (function,) = parse(f".entry k() {directives} {{ ret; }}").functions
    assert (function.max_threads, function.block) == (threads, block)


@pytest.mark.parametrize("directive", [".reqntid", ".maxntid", ".reqntid 1, 2, 3, 4", ".maxntid 32, 0"])
def test_extents_of_a_block_that_are_missing(directive: str) -> None:
    error = failure(f".entry k()\n  {directive} {{ ret; }}")
    name = directive.split(maxsplit=1)[0]
    assert str(error) == (f"bad.ptx:2:3: {name} takes the extents of a block, one to three positive numbers: "
                          f"{name} 128, 1, 1")


def test_integers_of_declarations_may_be_unsigned() -> None:
    (variable, masked), (function,) = (
        (module := parse(".global .align 16U .u32 x[4U]; .global .u8 m = 0xFFU(x);\n"
                         ".entry k() .maxntid 64U { .reg .b32 %r<5U>; ret; }")).variables, module.functions)
    assert (variable.align, variable.dimensions, function.max_threads) == (16, (4,), 64)
    assert masked.pointers == ((0, Symbol("x"), False, range(1)),)
    assert function.body and function.body.body[0] == ptx.Registers("b32", (("%r", 5),), 2)


def test_numbers_and_dimensions_at_their_limits() -> None:
    assert instruction(f"mov.u64 %rd1, {2**64 - 1};").operands[1] == Immediate("int", 2**64 - 1)
    assert "does not fit 64 bits" in failure(f".entry k() {{ mov.u64 %rd1, {2**64}; }}").message
    assert parse(f".global .u8 x{'[1]' * 8};").variables
    assert "too large" in failure(f".global .u8 x{'[1]' * 9};").message


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("call f;", ((), ())),
        ("call.uni f, (a, b);", ((), (Symbol("a"), Symbol("b")))),
        ("call.uni (r), f;", ((Symbol("r"),), ())),
        ("call.uni (r), f, ();", ((Symbol("r"),), ())),
    ],
)
def test_calls(text: str, lists: tuple) -> None:
    call = instruction(text)
    assert (call.opcode, call.operands, call.lists) == ("call", (Symbol("f"),), lists)


def test_calls_through_pointers() -> None:
    call = instruction("call (r), %rd1, (a), prototype_0;")
    assert call.operands == (Symbol("%rd1"), Symbol("prototype_0"))
    assert call.lists == ((Symbol("r"),), (Symbol("a"),))
    assert instruction("call %rd1, list;").operands == (Symbol("%rd1"), Symbol("list"))
    text = """.entry k() {
    P : .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16], .param .f64 x) .noreturn;
    Q: .callprototype _; T: .calltargets f, // a comment
        g; }"""
    typed, bare, targets = parse(text).functions[0].body.body
    assert ([v.size for v in typed.returns], [v.size for v in typed.parameters]) == ([4], [16, 8])
    assert (typed.name, typed.line, typed.functions) == ("P", 2, ())
    assert (bare.returns, bare.parameters) == ((), ())
    assert (targets.name, targets.line, targets.functions) == ("T", 3, ("f", "g"))


def test_debug_build_parses() -> None:
    module = parse((FIXTURES / "calls_debug.ptx").read_text())
    assert "calls" in "".join(function.name for function in module.functions if function.is_entry)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        (".entry k() { mov.u32 %r1 %r2; }", 1, 26, "unexpected '%r2;'; expected '+' or ',' or '-' or ';' or '|'"),
        (".entry k() {\n  ld.u32 %r1, [%r2;\n}", 2, 19, "unexpected ';'; expected '+' or ',' or '-' or ']'"),
        (".entry k( { ret; }", 1, 11, "unexpected '{'; expected ')' or '.param'"),
        (".entry k() { add.s32 %r1", 1, 25, "unexpected end of file; expected '+' or ',' or '-' or ';' or '|'"),
        (
            ".entry k() { mov.b64 " + "{" * 5000,
            1,
            23,
            "unexpected '{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{'; expected '-' or",
        ),
        (
            ".entry k() { ld.b32 " + "[" * 5000,
            1,
            22,
            "unexpected '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[['; expected '-' or",
        ),
        (".global .b99 x;", 1, 9, "unexpected '.b99'; expected '.align' or '.v2' or '.v4' or a type"),
        (".entry k() { mov.u32 %r1, \x01; }", 1, 27, "unexpected '\\x01;'; expected"),
        (".entry k() { mov.u32 %r1, 1 / (3 - 3); }", 1, 29, "constant expression: '/' divides by zero"),
        (".entry k() { mov.u32 %r1, 1 % 0; }", 1, 29, "constant expression: '%' divides by zero"),
        (".entry k() { mov.f32 %f1, 1.5 / 0.0; }", 1, 31, "constant expression: '/' divides by zero"),
        (".entry k() { mov.f32 %f1, 1.5 * 2; }", 1, 31, "constant expression: '*' takes two integers or two floating-"),
        (".entry k() { mov.f32 %f1, ~1.5; }", 1, 27, "constant expression: '~' takes an integer"),
        (".entry k() { mov.u32 %r1, 1 ? 2; }", 1, 29, "constant expression: '?' has no ':'"),
        (".entry k() { mov.u32 %r1, 1 : 2; }", 1, 29, "constant expression: ':' has no '?'"),
        (".entry k() { mov.u32 %r1, 4 + (1 : 2); }", 1, 34, "constant expression: ':' has no '?'"),
        (".entry k() { mov.u32 %r1, 0 ? 1 : 2 : 3; }", 1, 37, "constant expression: ':' has no '?'"),
        (".entry k() { mov.u32 %r1, " + "-" * 9999 + "1; }", 1, 27, "constant expression: '-' begins an"),
        (".entry k() { mov.u32 %r1, " + "1 ? 2 : " * 9999 + "1; }", 1, 29, "constant expression: '?' begins an"),
        (".entry k() { mov.u32 %r1, 1 ? 2.0 : 3.0; }", 1, 29, "constant expression: '?' takes integers"),
        (".entry k() { mov.u32 %r1, 1.0 ? 2 : 3; }", 1, 31, "constant expression: '?' takes integers"),
        (".entry k() { mov.f32 %f1, 0f3F800000 + 1.0; }", 1, 38, "constant expression: '+' takes decimal numbers and"),
        (".entry k() { mov.u32 %r1, (1 + 2; }", 1, 33, "unexpected ';'; expected ')'"),
        (".entry k() { mov.u32 %r1, 4 + %r2; }", 1, 31, "unexpected '%r2;'; expected '-' or a floating-point literal"),
        (".entry k() { ld.shared.u32 %r1, [tile+1.5]; }", 1, 38, "an offset has to be an integer"),
        (".entry k() { vadd.u32.u32.u32 %r1, %r2.b1, %r3.h1, %r4; }", 1, 39, "unexpected '.b1': video instructions on"),
        (".entry k() { .reg .v4 .f32 v; }", 1, 19, "unexpected '.v4': registers that are vectors are not supported"),
        (".shared .b32 z[4*8];", 1, 17, "unexpected '*8];'; expected ']'"),
        (".shared .b32 z[(4)];", 1, 16, "unexpected '(4)];'; expected 'WARP_SZ' or ']' or an integer"),
        (".global .u64 x = ;", 1, 18, "unexpected ';'; expected '-' or 'generic' or '{' or a floating-"),
        (".entry k() { add.s32 %r1, 5 %r2; }", 1, 29, "unexpected '%r2;'; expected ',' or ';'"),
        (".entry k() (", 1, 12, "unexpected '('; expected"),
        (".entry k() { mov.u32 %r1, 0x12345678901234567; }", 1, 27, "integer 0x12345678901234567 does not fit 64 bits"),
        (".entry k() { mov.u32 %r1, 0x00000000000000001; }", 1, 27, "unexpected '0x00000000000000001;'"),
        (".entry k() { ret; } /* no end", 1, 21, "the comment does not end: '*/' is missing"),
        (".address_size 32", 1, 1, "only .address_size 64 is supported"),
        (".global .u64 x = 99999999999999999999;", 1, 18, "integer 99999999999999999999 does not fit 64 bits"),
        (".global .b8 x[2] = {1, 2, 3};", 1, 1, "the initialiser has more elements than the variable"),
        (".global .b8 x[2] = 1;", 1, 1, "the initialiser needs braces around each dimension"),
        (".global .b8 x[2][2] = {1, 2};", 1, 1, "the initialiser needs braces around each dimension"),
        (".global .v2 .b8 x[] = {{1}, 2};", 1, 1, "the initialiser needs braces around each dimension"),
        (".global .u32 x = 0f3FC00000;", 1, 1, "a .f32 literal cannot initialise .u32"),
        (".global .f64 x = 0f3FC00000;", 1, 1, "a .f32 literal cannot initialise .f64"),
        (".global .b32 x = 0d3FF8000000000000;", 1, 1, "a .f64 literal cannot initialise .b32"),
        (".global .b32 x = y;", 1, 1, "an address cannot initialise an element of 4 bytes"),
        (".global .b8 x[2000000][2000000];", 1, 1, "variable 'x' is too large"),
        (".global .align 3 .b8 x;", 1, 1, "the alignment of 'x' is 3, not a power of two"),
        (".global .texref x = 1;", 1, 1, "a variable of type .texref cannot have an initialiser"),
        (".shared .u32 x = 1;", 1, 1, "variable 'x' in .shared memory cannot have an initialiser"),
        (".entry k() { .local .u32 x = 1; }", 1, 14, "variable 'x' in .local memory cannot have an initialiser"),
    ],
)
def test_error_names_place_and_remedy(text: str, line: int, column: int, message: str) -> None:
    error = failure(text)
    assert (error.file, error.line, error.column) == ("bad.ptx", line, column)
    assert error.message.startswith(message)
    assert "\n" not in str(error)


@settings(max_examples=200)
@given(st.integers(0, 2**64 - 1))
def test_integers_of_every_base(value: int) -> None:
    for text in (f"{value}", f"{value:#x}", f"{value:#X}U", f"0{value:o}", f"0b{value:b}"):
        assert instruction(f"mov.b64 %rd1, {text};").operands[1] == Immediate("int", value)


# ---------------------------------------------------------------- two ways to read an instruction


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.ptx")), ids=lambda path: path.stem)
def test_plain_instructions_are_what_the_rules_make_of_them(path: Path) -> None:
    """With a comment the grammar's rules parse every instruction and every list of integers."""
    text = path.read_text()
    taken_apart = re.sub(r"(?m)(?<=[^\s;}]);[ \t]*$|(?<=\{)(?=\d)", r"/**/\g<0>", text)
    assert taken_apart != text
    assert replace(parse(taken_apart), text="") == replace(parse(text), text="")
