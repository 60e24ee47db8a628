"""Generates PTX of several shapes in any size, to measure the compiler. Its results have no meaning."""

from collections.abc import Callable, Iterable, Iterator
from random import Random

_HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
_HELPER = """.func (.param .b32 out) helper(.param .b32 in) {
.reg .b32 %r<3>; .reg .pred %p;
ld.param.u32 %r1, [in];
setp.eq.s32 %p, %r1, 7;
@%p bra DONE;
mul.lo.s32 %r1, %r1, %r1;
st.global.u32 [0], %r1;
xor.b32 %r1, %r1, 5;
DONE: st.param.b32 [out], %r1;
ret; }
"""
_CALL = "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), helper, (a); ld.param.b32 %r1, [r]; }"


def _entry(lines: Iterable[str], declared: str = "", name: str = "large") -> str:
    registers = ".reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<2>; .reg .pred %q;"
    body = "\n".join(lines)
    return f".entry {name}(.param .u64 p) {{\n{registers} {declared}\nld.param.u64 %rd1, [p];\n{body}\nret; }}\n"


def straight(count: int) -> str:
    """Arithmetic, loads and stores on 80 registers in one basic block."""
    random, forms = Random(1), ("add.s32 %r{0}, %r{1}, %r{2};", "mad.lo.s32 %r{0}, %r{1}, %r{2}, %r{0};",
                                "fma.rn.f32 %f{0}, %f{1}, %f{2}, %f{0};", "ld.global.u32 %r{0}, [%rd1+{3}];",
                                "st.global.u32 [%rd1+{3}], %r{1};", "xor.b32 %r{0}, %r{1}, {3};")
    numbers = ([random.randrange(40) for _ in range(3)] for _ in range(count))
    return _HEAD + _entry(random.choice(forms).format(*three, 4 * n % 4096) for n, three in enumerate(numbers))


def one_line(count: int) -> str:
    """The arithmetic of `straight` without line breaks."""
    return straight(count).replace("\n", " ")


def registers(count: int) -> str:
    """A separate register for every instruction."""
    def lines() -> Iterator[str]:
        yield "mov.u32 %v0, %tid.x;"
        for n in range(1, count):
            yield f"add.s32 %v{n}, %v{n - 1}, %v{max(n - 9, 0)};"
        yield f"st.global.u32 [%rd1], %v{count - 1};"
    return _HEAD + _entry(lines(), f".reg .b32 %v<{count}>;")


def live(count: int) -> str:
    """Half as many values as instructions, all live at once."""
    def lines() -> Iterator[str]:
        for n in range(count // 2):
            yield f"ld.global.u32 %v{n}, [%rd1+{4 * n}];"
        for n in range(count // 2):
            yield f"st.global.u32 [%rd1+{4 * n}], %v{n};"
    return _HEAD + _entry(lines(), f".reg .b32 %v<{count}>;")


def predicates(count: int) -> str:
    """A third as many predicates as instructions, all live at once."""
    def lines() -> Iterator[str]:
        for n in range(count // 3):
            yield f"ld.global.u32 %r1, [%rd1+{4 * n}]; setp.lt.s32 %p{n}, %r1, {n};"
        for n in range(count // 3):
            yield f"@%p{n} st.global.u32 [%rd1+{4 * n}], %r2;"
    return _HEAD + _entry(lines(), f".reg .pred %p<{count}>;")


def copies(count: int) -> str:
    """Copies of one register, each changed; nothing else is live."""
    changed = (f"mov.b32 %v{n}, %w; add.s32 %v{n}, %v{n}, {n};" for n in range(count // 2))
    return _HEAD + _entry(changed, f".reg .b32 %w, %v<{count // 2}>;")


def branches(count: int) -> str:
    """A chain of conditionals, of ten instructions each."""
    def lines() -> Iterator[str]:
        for n in range(count // 10):
            yield f"setp.lt.s32 %q, %r1, {n}; @%q bra L{n};"
            yield from ["add.s32 %r2, %r2, %r1; xor.b32 %r2, %r2, %r3;"] * 3
            yield f"st.global.u32 [%rd1+{n}], %r2; L{n}: add.s32 %r1, %r1, 1;"
    return _HEAD + _entry(lines())


def sides(count: int) -> str:
    """A chain of branches behind a barrier, each to a side of its own; all sides have one end."""
    def lines() -> Iterator[str]:
        yield "bar.sync 0;"
        yield from (f"@%q bra S{n};" for n in range(count // 3))
        yield "bra END;"
        for n in range(count // 3):
            yield f"S{n}: st.global.u32 [%rd1+{n}], %r1; bra END;"
        yield "END:"
    return _HEAD + _entry(lines())


def backward(count: int) -> str:
    """Blocks in reverse order, each of which jumps to the one before it or leaves."""
    def lines() -> Iterator[str]:
        yield "bra L0;"
        for n in reversed(range(count // 5)):
            yield f"L{n}: add.s32 %r{n % 40}, %r1, %r2; st.global.u32 [%rd1], %r{(n + 3) % 40};"
            yield f"setp.lt.s32 %q, %r1, {n}; @%q exit; bra L{n + 1};"
        yield f"L{count // 5}:"
    return _HEAD + _entry(lines())


def sequence(count: int) -> str:
    """Loops one after the other, each with a counter of its own."""
    def lines() -> Iterator[str]:
        for n in range(count // 5):
            yield f"mov.u32 %v{n}, 0; L{n}: mad.lo.s32 %r2, %r2, %r2, %v{n}; add.s32 %v{n}, %v{n}, 1;"
            yield f"setp.lt.s32 %q, %v{n}, 9; @%q bra L{n};"
        yield "st.global.u32 [%rd1], %r2;"
    return _HEAD + _entry(lines(), f".reg .b32 %v<{count // 5}>;")


def nested(count: int) -> str:
    """Nested loops, one level for every 50 instructions, each with a counter; the rest is in the innermost loop."""
    depth = count // 50
    def lines() -> Iterator[str]:
        for n in range(depth):
            yield f"mov.u32 %v{n}, 0; L{n}: setp.ge.s32 %q, %v{n}, %r1; @%q bra X{n};"
        yield from ["add.s32 %r2, %r2, %r3;"] * (count - 5 * depth)
        for n in reversed(range(depth)):
            yield f"add.s32 %v{n}, %v{n}, 1; bra L{n}; X{n}:"
        yield "st.global.u32 [%rd1], %r2;"
    return _HEAD + _entry(lines(), f".reg .b32 %v<{depth + 1}>;")


def calls(count: int) -> str:
    """Calls of a small function, of ten instructions each once it is inlined."""
    return _HEAD + _HELPER + _entry([*[_CALL] * (count // 10), "st.global.u32 [%rd1], %r1;"])


def entries(count: int) -> str:
    """A file with one entry for every 200 instructions, of which `large` is compiled."""
    def functions() -> Iterator[str]:
        for n in range(count // 200):
            yield _entry(["add.s32 %r1, %r1, %r2;"] * 200, name=f"k{n}" if n else "large")
    return _HEAD + "".join(functions())


SHAPES: dict[str, Callable[[int], str]] = {
    function.__name__: function
    for function in (straight, one_line, registers, live, predicates, copies, branches, sides, backward, sequence,
                     nested, calls, entries)
}
"""By name of the shape: a function of the approximate number of instructions that returns PTX with an entry `large`."""
