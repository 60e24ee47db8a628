"""Only the functions that an entry needs are parsed, and the result is the same."""

import re
from pathlib import Path

import pytest

from warploom.arch.errors import PtxError
from warploom.compiler.compile import compile_ptx
from warploom.compiler.excerpt import excerpt
from warploom.compiler.linker import link
from warploom.compiler.parser import parse

FIXTURES = Path(__file__).parents[1] / "ptx"
MANY = """.version 8.0 // { not a brace
.func (.param .b32 r) inner(.param .b32 a);
.global .b32 g[2] = {1, 2}; /* } */
.func (.param .b32 r) inner(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }
.func outer() { { .param .b32 a; .param .b32 r; st.param.b32 [a], 1; call (r), inner, (a); } ret; }
.alias other, outer;
.entry one() { .reg .b32 %r<3>; .pragma "{"; mov.b64 {%r1, %r2}, 5;
  call other; ret; } .func broken() { this is no PTX } .entry two() { bad; }
.entry three() { ret; }
"""


@pytest.mark.parametrize("name", ["calls.ptx", "calls_debug.ptx", "pressure.ptx", "scaling.ptx", "threshold.ptx"])
def test_the_kernel_is_that_of_the_whole_file(name):
    text = (FIXTURES / name).read_text()
    entries = re.findall(r"\.entry\s+(\w+)", text)
    assert entries
    for entry in entries:
        assert link(parse(excerpt(text, entry)), entry) == link(parse(text), entry)


def test_everything_kept_stays_in_its_place():
    kept = excerpt(MANY, "one")
    assert [len(line) for line in kept.split("\n")] == [len(line) for line in MANY.split("\n")]
    assert all(new in (old, " ") for new, old in zip(kept, MANY, strict=True))
    assert kept == MANY.replace("this is no PTX", " " * 14).replace("bad;", " " * 4).replace("{ ret; }\n", "{      }\n")
    assert [i.op.name for i in compile_ptx(MANY, "many.ptx", "one").instructions] == ["EXIT"]


@pytest.mark.parametrize("entry", ["two", "one"])
def test_errors_are_placed_as_in_the_whole_file(entry):
    """After omitted parts, on earlier lines and on the same line."""
    text = MANY.replace("call other", "call othr")
    with pytest.raises(PtxError) as found:
        compile_ptx(text, "many.ptx", entry)
    wrong = "bad" if entry == "two" else "othr"
    line, column = next((n, line.index(wrong) + 1) for n, line in enumerate(text.split("\n"), 1) if wrong in line)
    assert str(found.value).startswith(f"many.ptx:{line}:{column}: ")


def test_other_functions_are_not_looked_at():
    assert len(compile_ptx(MANY, "many.ptx", "three").instructions) == 1
    with pytest.raises(PtxError, match=r"many\.ptx: name the entry: the file has 3 \(one, two, three\)"):
        compile_ptx(MANY, "many.ptx")
    with pytest.raises(PtxError, match=r"there is no entry 'four'; entries: one, two, three"):
        compile_ptx(MANY, "many.ptx", "four")


@pytest.mark.parametrize("text", [".entry a() { ret; } } .entry b() { }", ".entry a() { { ret; } .entry b() { ret; }"])
def test_braces_that_do_not_match_are_for_the_parser(text):
    assert excerpt(text, "b") == text
    with pytest.raises(PtxError, match="unexpected"):
        compile_ptx(text, "bad.ptx", "b")


def test_the_only_entry_needs_no_name():
    text = ".func unused() { nonsense } .entry k() { ret; }"
    assert excerpt(text, None) == ".func unused() {          } .entry k() { ret; }"
