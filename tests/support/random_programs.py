"""Random kernels in PTX: structured control flow, guards, memory of all spaces, long latencies, 64-bit values, values
linear in the thread index, blocks of one to three dimensions.

A thread accesses only its own memory, so that any order of threads gives one result. At the end each stores some
registers, which shows their values in its lane.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS
from support.random_case import OWN_BYTES, Case

from warploom.arch.mechanisms import Bypass

REGISTERS, LONGS, PREDICATES = 6, 2, 3
SCRATCH = 32
"""Bytes of a thread's global memory that the kernel may use; the final registers are above."""

SLOT, STACK = 16, 16
"""Bytes of a thread's shared and local memory."""

CONSTANTS = [n * 89 + 7 & 255 for n in range(64)]
"""Bytes of constant memory."""

BLOCKS = [(32, 1, 1), (40, 1, 1), (64, 1, 1), (32, 2, 1), (8, 5, 1), (16, 2, 2), (4, 8, 2), (5, 3, 3), (1, 33, 1)]
"""Shapes of blocks, of at most as many threads as the input has words."""

BYPASSES = tuple(bypass.value for bypass in Bypass if bypass.has_window)

BACKEND = "without variations"
AVAILABLE_PROVIDERS[BACKEND] = "hypothesis.internal.conjecture.providers.HypothesisProvider"
"""Hypothesis's own backend under another name. Under its own name it makes up to five of six cases by repeating a part
of the previous one, so that only a sixth of the kernels would be worth running."""

DEPTH = 2
"""Nested conditionals and loops."""

class Conditional(NamedTuple):
    """Two bodies, the second one possibly empty, for lanes whose predicate holds and for the others."""

    predicate: str
    then: list
    otherwise: list


class Loop(NamedTuple):
    """A body executed up to three times, at least once unless `tested_first`; the count comes from a register."""

    count: str
    body: list
    tested_first: bool


class Leave(NamedTuple):
    """The action of lanes whose predicate holds: `break` or `continue` the innermost loop, or `exit`."""

    predicate: str
    where: str


Statement = str | Conditional | Loop | Leave


# ---------------------------------------------------------------------- strategies

_registers = st.sampled_from([f"%r{n}" for n in range(REGISTERS)])
_longs = st.sampled_from([f"%d{n}" for n in range(LONGS)])
_predicates = st.sampled_from([f"%p{n}" for n in range(PREDICATES)])
_kept = st.sets(st.one_of(_registers, _longs, _predicates))
_constants = st.sampled_from([0, 1, 2, 7, 31, 0xFF, 0x1234, 0x3F800000, 0x80000000, 0xFFFFFFFF]).map(str)
_values = st.one_of(_registers, _registers, _constants)
_guards = st.one_of(st.just(""), st.builds("@{}{} ".format, st.sampled_from(["", "!"]), _predicates))
_tables = st.integers(0, 255)


def _forms(opcodes: str, *operands: st.SearchStrategy, template: str = "{} {};") -> st.SearchStrategy[str]:
    """Guarded instructions with one of the opcodes."""
    texts = st.tuples(*operands).map(lambda chosen: ", ".join(map(str, chosen)))
    return st.builds(("{}" + template).format, _guards, st.sampled_from(opcodes.split()), texts)


_specials = st.sampled_from(["%tid.x", "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ctaid.x", "%laneid"])
_arithmetic = st.one_of(
    _forms("mov.b32", _registers, st.one_of(_specials, _specials, _constants)),
    _forms("mov.b32 not.b32 popc.b32 clz.b32 brev.b32 cvt.s32.s8 cvt.u32.u16 sqrt.rn.f32 cvt.rn.f32.u32",
           _registers, _registers),
    _forms("add.u32 sub.u32 mul.lo.u32 mul.hi.s32 and.b32 or.b32 xor.b32 min.s32 max.s32 min.u32 max.u32 shl.b32 "
           "shr.u32 shr.s32", _registers, _registers, _values),
    _forms("div.u32 rem.u32 div.s32 rem.s32 add.f32 mul.f32 div.rn.f32", _registers, _registers, _registers),
    _forms("mad.lo.u32 prmt.b32", _registers, _registers, _registers, _registers),
    _forms("mad.lo.u32", _registers, _registers, _constants, _registers),
    _forms("lop3.b32", _registers, _registers, _registers, _registers, _tables),
    _forms("selp.b32", _registers, _registers, _registers, _predicates),
)
_wide = st.one_of(
    _forms("add.u64 sub.u64 mul.lo.u64 xor.b64 add.f64 mul.f64 div.u64 rem.u64", _longs, _longs, _longs),
    _forms("shl.b64 shr.u64", _longs, _longs, _registers),
    _forms("mul.wide.u32", _longs, _registers, _registers),
    _forms("mad.wide.u32", _longs, _registers, _registers, _longs),
    _forms("cvt.u64.u32 cvt.s64.s32", _longs, _registers),
    _forms("cvt.u32.u64", _registers, _longs),
    st.builds("{}mov.b64 {}, {{{}, {}}};".format, _guards, _longs, _registers, _registers),
)
_compare = st.one_of(
    _forms("setp.lt.s32 setp.ge.s32 setp.lt.u32 setp.eq.u32 setp.ne.u32", _predicates, _registers, _values),
    _forms("setp.lt.f32", _predicates, _registers, _registers),
    _forms("setp.lt.u64", _predicates, _longs, _longs),
    _forms("and.pred xor.pred", _predicates, _predicates, _predicates),
    # a bit of a register: lanes differ
    st.builds("and.b32 %t0, {}, {};\nsetp.ne.u32 {}, %t0, 0;".format, _registers, st.sampled_from([1, 2, 4, 8, 16]),
              _predicates),
)


def _places(limit: int, base: str) -> dict[int, st.SearchStrategy[str]]:
    """Addresses below a limit from a base, for each size."""
    return {size: st.sampled_from([f"[{base}+{offset}]" for offset in range(0, limit, size)]) for size in (1, 2, 4, 8)}


def _loads(space: str, places: dict[int, st.SearchStrategy[str]]) -> Iterator[st.SearchStrategy[str]]:
    for size in (1, 2, 4):
        yield _forms(" ".join(f"ld.{space}.{sign}{8 * size}" for sign in "us"), _registers, places[size])
    yield _forms(f"ld.{space}.u64", _longs, places[8])


def _accesses(space: str, places: dict[int, st.SearchStrategy[str]]) -> Iterator[st.SearchStrategy[str]]:
    yield from _loads(space, places)
    for size in (1, 2, 4):
        yield _forms(f"st.{space}.u{8 * size}", places[size], _registers)
    yield _forms(f"st.{space}.u64", places[8], _longs)


_own, _slot = _places(SCRATCH, "%a1"), _places(SLOT, "%s0")
_memory = st.one_of(
    # somewhere in the input, lanes far apart or in one line
    st.builds("and.b32 %t0, {}, 252;\ncvt.u64.u32 %a2, %t0;\nadd.u64 %a2, %a2, %a0;\n{}ld.global.u32 {}, [%a2+0];"
              .format, _registers, _guards, _registers),
    # a word of the input for each thread
    st.builds("mul.wide.u32 %a2, %t1, 4;\nadd.u64 %a2, %a2, %a0;\n{}ld.global.u32 {}, [%a2+0];".format, _guards,
              _registers),
    st.one_of(*_loads("const", _places(len(CONSTANTS), "constants"))),
    *_accesses("global", _own), *_accesses("shared", _slot), *_accesses("local", _places(STACK, "stack")),
    _forms("atom.global.add.u32 atom.global.exch.b32", _registers, _own[4], _registers),
    _forms("red.global.add.u32", _own[4], _registers),
    _forms("atom.shared.add.u32", _registers, _slot[4], _registers),
    _forms("atom.global.add.u64 atom.global.exch.b64", _longs, _own[8], _longs),
)
_t0 = st.just("%t0")
_compact = st.builds("{}\n{}".format, st.one_of(
    # the values in a warp are on both sides of a wrap, or equal
    st.builds("add.u32 %t0, %t1, {};".format, st.sampled_from([0xFFFFFFF0, 0x7FFFFFF0, 0xFFFFFFFF])),
    st.builds("mov.b32 %t0, {};".format, st.sampled_from(["%ctaid.x", "%ntid.x"])),
), st.one_of(
    _forms("min.s32 max.s32 min.u32 max.u32 shr.u32 shr.s32 mul.hi.s32", _registers, _t0, _constants),
    _forms("setp.lt.s32 setp.lt.u32 setp.ge.s32", _predicates, _t0, _constants),
    _forms("popc.b32 clz.b32 brev.b32 cvt.rn.f32.u32", _registers, _t0),
    _forms("add.f32 mul.f32", _registers, _t0, _t0),
    _forms("prmt.b32", _registers, _t0, _t0, _constants),
    _forms("setp.lt.f32", _predicates, _t0, _t0),
    st.builds("and.b32 %t0, %t0, 60;\nadd.u32 %t0, %t0, %s1;\n{}".format,
              _forms("ld.const.u32 ld.const.s8", _registers, st.just("[%t0+0]"))),
    st.builds("mov.b64 %d0, {{%t0, {}}};\nadd.u64 {}, %d0, {};".format, _registers, _longs, _longs),
))
_simple = st.one_of(_arithmetic, _arithmetic, _arithmetic, _compare, _memory, _wide, _compact)


@st.composite
def _one_of(draw: st.DrawFn, choices: Sequence[st.SearchStrategy[Statement]]) -> Statement:
    """One of the choices, each as often as the others. `st.one_of` would flatten them: a choice with a hundred forms
    would be drawn a hundred times as often as one with a single form, so that hardly a kernel had a branch."""
    return draw(choices[draw(st.integers(0, len(choices) - 1))])


def _bodies(depth: int, in_loop: bool, leave: tuple[str, ...]) -> st.SearchStrategy[list[Statement]]:
    """Statements with this number of nested levels, which may `leave` in these ways."""
    choices: list[st.SearchStrategy[Statement]] = [_simple] * 4
    ways = (*leave, "break", "continue") if in_loop else leave
    if depth < DEPTH and ways:
        choices.append(st.builds(Leave, _predicates, st.sampled_from(ways)))
    if depth == 0:
        return st.lists(_one_of(choices), max_size=6)
    inner, looped = _bodies(depth - 1, in_loop, leave), _bodies(depth - 1, True, leave)
    choices += [
        st.builds(Conditional, _predicates, inner, st.one_of(st.just([]), inner)),
        st.builds(Loop, _registers, looped, st.booleans()),
    ]
    short = st.lists(_one_of(choices), max_size=6)
    return short if depth < DEPTH else st.one_of(short, *[st.lists(_one_of(choices), min_size=10, max_size=25)] * 2)


_compacts = st.lists(st.one_of(_compact, _compact, _compact, _simple), min_size=40, max_size=60)
"""Straight-line code, most of which an affine unit may execute."""

_anywhere = _bodies(DEPTH, False, ("exit",))
_kernels = st.one_of(
    _anywhere,
    # a barrier, which every thread must reach
    st.builds(lambda first, barrier, second: [*first, barrier, *second], _bodies(DEPTH, False, ()),
              st.builds("bar.red.popc.u32 {}, 0, {};".format, _registers, _predicates), _anywhere),
)


# ---------------------------------------------------------------------- text


class _Writer:
    """Turns statements into lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names = itertools.count()

    def write(self, body: Sequence[Statement], depth: int = 0, ends: dict[str, str] | None = None) -> None:
        """`ends` are the labels of the innermost loop, `depth` counts loops around the body."""
        for statement in body:
            if isinstance(statement, str):
                self.lines += statement.splitlines()
            elif isinstance(statement, Leave):
                label = (ends or {}).get(statement.where)
                self.lines.append(f"@{statement.predicate} " + (f"bra {label};" if label else "exit;"))
            elif isinstance(statement, Loop):
                self._loop(statement, depth)
            else:
                self._conditional(statement, depth, ends)

    def _conditional(self, statement: Conditional, depth: int, ends: dict[str, str] | None) -> None:
        name = next(self._names)
        self.lines.append(f"@!{statement.predicate} bra ELSE{name};")
        self.write(statement.then, depth, ends)
        if statement.otherwise:
            self.lines += [f"bra END{name};", f"ELSE{name}:"]
            self.write(statement.otherwise, depth, ends)
            self.lines.append(f"END{name}:")
        else:
            self.lines.append(f"ELSE{name}:")

    def _loop(self, loop: Loop, depth: int) -> None:
        name, counter, predicate = next(self._names), f"%c{depth}", f"%q{depth}"
        self.lines += [f"and.b32 {counter}, {loop.count}, 3;"]
        self.lines += [f"bra NEXT{name};"] if loop.tested_first else []
        self.lines.append(f"TOP{name}:")
        self.write(loop.body, depth + 1, {"break": f"OUT{name}", "continue": f"NEXT{name}"})
        self.lines += [
            f"NEXT{name}:", f"setp.ne.u32 {predicate}, {counter}, 0;", f"sub.u32 {counter}, {counter}, 1;",
            f"@{predicate} bra TOP{name};", f"OUT{name}:",
        ]


FIRST = f"""mov.b32 %r0, %tid.x;
mov.b32 %r1, %ctaid.x;
mov.b32 %t0, %tid.z;
mad.lo.u32 %t0, %t0, %ntid.y, %tid.y;
mad.lo.u32 %t1, %t0, %ntid.x, %r0;
mul.lo.u32 %t0, %ntid.x, %ntid.y;
mul.lo.u32 %t0, %t0, %ntid.z;
mad.lo.u32 %t0, %r1, %t0, %t1;
ld.param.u64 %a0, [input];
ld.param.u64 %a1, [output];
mul.wide.u32 %a2, %t0, {OWN_BYTES};
add.u64 %a1, %a1, %a2;
mov.b32 %s0, slots;
mov.b32 %s1, constants;
mad.lo.u32 %s0, %t1, {SLOT}, %s0;
mul.lo.u32 %r2, %t0, 2654435761;
and.b32 %t0, %r2, 252;
cvt.u64.u32 %a2, %t0;
add.u64 %a2, %a2, %a0;
ld.global.u32 %r3, [%a2+0];
mov.b32 %r4, 5;
shr.u32 %r5, %r2, 16;
mul.wide.u32 %d0, %r2, %r3;
mov.b64 %d1, {{%r4, %r3}};
setp.lt.u32 %p0, %r0, 16;
setp.lt.s32 %p1, %r2, 0;
setp.lt.u32 %p2, %r3, 4096;
"""
"""%tid.x and the block are in %r0 and %r1, the thread's number in the block in %t1, own memory at %a1 and %s0, the
input at %a0, the constants at %s1; everything has a value."""


def kernel(body: Sequence[Statement], kept: Collection[str]) -> str:
    """The PTX text of a kernel that in the end stores these registers, if it uses them."""
    writer = _Writer()
    writer.write(body)
    used = set(re.findall(r"%[rdp]\d", "\n".join(writer.lines)))
    final = []
    for offset, name in enumerate(sorted(used.intersection(kept))):
        place = f"[%a1+{SCRATCH + 8 * offset}]"
        if name[1] == "p":
            final.append(f"selp.b32 %t0, 1, 0, {name};")
        final.append(f"st.global.u{64 if name[1] == 'd' else 32} {place}, {'%t0' if name[1] == 'p' else name};")
    lines = [*FIRST.splitlines(), *writer.lines, *final, "exit;"]
    text = "\n".join(line if line.endswith(":") else f"\t{line}" for line in lines)
    return f""".version 7.0
.target sm_75
.address_size 64
.const .align 8 .b8 constants[{len(CONSTANTS)}] = {{{", ".join(map(str, CONSTANTS))}}};
.visible .entry random(.param .u64 input, .param .u64 output)
{{
	.reg .pred %p<{PREDICATES}>;
	.reg .pred %q<{DEPTH}>;
	.reg .b32 %r<{REGISTERS}>;
	.reg .b32 %c<{DEPTH}>;
	.reg .b32 %t<2>;
	.reg .b32 %s<2>;
	.reg .b64 %d<{LONGS}>;
	.reg .b64 %a<3>;
	.shared .align 8 .b8 slots[2048];
	.local .align 8 .b8 stack[{STACK}];
{text}
}}
"""


@st.composite
def cores(draw: st.DrawFn, bypasses: Sequence[str], affines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """A preset and settings."""
    bypass, affine, coalescing = (draw(st.sampled_from(kinds)) for kinds in (bypasses, affines, ["off", "on"]))
    settings = [
        f"bypass={bypass}", f"affine={affine}", f"coalescing={coalescing}",
        f"gating={draw(st.sampled_from(['off', 'active', 'in_lane', 'cross_lane']))}",
        f"layout={draw(st.sampled_from(['wshift', 'wid']))}",
        f"blocks={draw(st.sampled_from([8, 1]))}",  # one at a time: warps take over slots of earlier warps
        f"scheduler={draw(st.sampled_from(['gto', 'lrr', 'two_level']))}",
    ]
    if coalescing == "on":
        settings.append(f"alignment={draw(st.sampled_from(['reg', 'write']))}")
    if bypass != "off":
        window = draw(st.integers(2, 8))
        settings += [f"window={window}", f"entries={draw(st.integers(4, 4 * window))}"]
    return draw(st.sampled_from(["small", "narrow", "pascal"])), tuple(settings)


@st.composite
def cases(draw: st.DrawFn, bypasses: Sequence[str], affines: Sequence[str] = ("off",)) -> Case:
    """Kernels of up to six warps on cores with one of the kinds of bypassing, and of affine units."""
    preset, settings = draw(cores(bypasses, affines))
    grid, block = draw(st.integers(1, 3)), draw(st.sampled_from(BLOCKS))
    body = draw(_compacts if affines != ("off",) and draw(st.booleans()) else _kernels)
    return Case(preset, settings, grid, block, kernel(body, draw(_kept)))


def some(count: int) -> settings:
    """This number of cases, none of them derived from another one."""
    return settings(max_examples=count, backend=BACKEND, suppress_health_check=list(HealthCheck))


def each(test: Callable[[Case], None], count: int, number: int, *, bypasses: Sequence[str] = BYPASSES,
         affines: Sequence[str] = ("off",)) -> None:
    """Call a test with this number of cases, always the same ones. Raises its exception, for the simplest case."""

    def run(case: Case) -> None:
        test(case)

    some(count)(seed(number)(given(cases(bypasses, affines))(run)))()


def samples(count: int, number: int, *, bypasses: Sequence[str] = BYPASSES,
            affines: Sequence[str] = ("off",)) -> list[Case]:
    """The cases of `each`."""
    found: list[Case] = []
    each(found.append, count, number, bypasses=bypasses, affines=affines)
    return found
