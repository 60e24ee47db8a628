"""Random CUDA C kernels, by seed: legal, free of races, with the same results in every order of threads."""

import re
from collections.abc import Sequence
from dataclasses import replace

from fuzz.expressions import PLACEHOLDER, Expressions, favoured
from fuzz.given import ROW_BYTES
from fuzz.program import Program
from fuzz.scope import Dice, Names, Scope
from fuzz.templates import LISTS, TYPES, UNSIGNED
from fuzz.tree import STATEMENT, Node

VERSION = 12
"""The version; changes whenever a seed generates another program."""

ROW = {"u8": ("m8", 16), "u16": ("m16", 8), "u32": ("m32", 8), "u64": ("m64", 4), "f32": ("mf", 4), "f64": ("md", 2)}
"""The parts of a thread's row of output by type, name and elements; variables are left in its second half."""

LOCAL = {"u32": ("la32", 8), "u64": ("la64", 4), "f32": ("laf", 4), "u8": ("la8", 8)}
"""Arrays in local memory."""

BLOCKS = (*((32, 1),) * 6, *((64, 1),) * 4, (96, 1), (16, 4), (8, 4), (25, 1), (33, 1), (45, 1), (13, 5))

SCALARS = ("u32", "s16", "u8", "u64", "f32", "s32")
"""Types of further parameters."""

STATEMENTS = ("assignments", "stores", "row_stores", "own_atomics", "common_atomics", "shared_atomics", "votes",
              "shuffles", "meetings")


class Generator:
    """Makes the program of one seed."""

    def __init__(self, seed: int) -> None:
        self._seed, self._dice = seed, (dice := Dice(seed))
        self._expressions = Expressions(dice)
        self._lists = {name: favoured(dice, LISTS[name]) for name in STATEMENTS}
        self._block, self._grid = dice.choice(BLOCKS), dice.choice((1, 1, 1, 2, 3))
        self._threads = self._block[0] * self._block[1]
        self._whole = self._threads % 32 == 0  # warps
        self._meets = dice.chance(0.65)  # the threads of a block, or those of a warp, act together
        self._shared = dice.chance(0.5)  # threads have arrays in shared memory
        self._deep = dice.choice((1, 2, 2, 3))
        types = ["u32", "u32", *(dice.choice(TYPES) for _ in range(dice.choice((2, 3, 4, 6))))]
        self._variables = [(f"v{n}", kind) for n, kind in enumerate(types)]
        self._loops = 0

    def program(self) -> Program:
        """The kernel with all its parts."""
        dice = self._dice
        functions = [self._function(n) for n in range(dice.choice((0, 0, 0, 1, 1, 2)))]
        scalars = tuple(dice.choice(SCALARS) for _ in range(dice.below(4)))
        scope = self._scope(scalars)
        first = replace(scope, read={"u32": ["tid", "gid", "n"]}, places={})
        start = [self._fill(f"{kind} {name} = {dice.choice(LISTS[f'load {kind}'])};\n", first, 1)
                 for name, kind in self._variables]
        for declaration in start:
            declaration.fixed = True
        main = replace(scope, level="block" if self._meets else "lane", may_return=not self._meets)
        body = self._statements(main, 3 + dice.below(4))
        dump = [Node(STATEMENT, f"*({kind} *)(row + {ROW_BYTES // 2 + 8 * n}) = "
                                f"{f'known({name})' if kind[0] == 'f' else name};\n")
                for n, (name, kind) in enumerate(self._variables)]
        tail = self._statements(replace(scope, may_return=True, depth=2), dice.below(3))
        last = Node(STATEMENT, f"*(u64 *)(row + {ROW_BYTES - 8}) = (u64)v0 + m64[1] + la64[2];\n")
        tree = Node("kernel", f"{self._head(scalars)}$$$$$}}\n", [start, body, dump, tail, [last]])
        return Program(self._seed, self._grid, self._block, scalars, tree, functions)

    def _fill(self, template: str, scope: Scope, depth: int) -> Node:
        return self._expressions.fill(template, scope, depth)

    # ------------------------------------------------------------ statements

    def _statements(self, scope: Scope, count: int) -> list[Node]:
        return [self._statement(scope) for _ in range(count)]

    def _statement(self, scope: Scope) -> Node:
        """One statement that is legal in its context."""
        kinds = ["assignments"] * 10 + ["stores"] * 4
        if not scope.in_function:
            kinds += ["row_stores"] * 2 + ["own_atomics"] * 4 + ["common_atomics"] * 2
            kinds += ["call"] * 2 * bool(self._expressions.functions)
        if scope.depth < 4:
            kinds += ["if"] * 5 + ["loop"] * 4 * (scope.work >= 2) + ["switch"]
        kinds += ["jump"] * 2 * scope.in_loop + ["leave"] * scope.may_return
        if scope.level != "lane" and self._whole:
            kinds += ["shuffles"] * 4 + ["vote"] * 4
        if scope.level == "block":
            kinds += ["meetings"] * 5 + ["count"] * 3 + ["agree"] * 3
        kind = self._dice.choice(kinds)
        if kind not in self._lists:
            return getattr(self, f"_{kind}")(scope)
        node = self._fill(self._pick(kind, scope).replace("THREADS", f"{self._threads}u"), scope, self._deep + 1)
        node.text = f"{{ {node.text} }}\n"
        return node

    def _pick(self, kind: str, scope: Scope) -> str:
        """A template of a list, for whose results there are variables of their types."""
        for _ in range(20):
            text = self._dice.choice(self._lists[kind])
            if all(self._has(mark, written, scope) for mark, written in PLACEHOLDER.findall(text)):
                return text
        return "$=u32 = $u32;"

    @staticmethod
    def _has(mark: str, kind: str, scope: Scope) -> bool:
        if mark == "=":
            return kind in scope.write
        places = {"@": scope.places, "%": scope.atomic_places}
        return mark not in places or UNSIGNED.get(kind, kind) in places[mark]

    def _condition(self, scope: Scope, level: str) -> Node:
        return self._expressions.expression("b", scope.agreeing(level), 2, uniform=level != "lane")

    def _number(self, scope: Scope, level: str) -> Node:
        return self._expressions.expression("u32", scope.agreeing(level), 1, uniform=level != "lane")

    def _lower(self, level: str) -> str:
        """The threads that take part in a branch: often fewer than around it."""
        return self._dice.choice({"lane": ("lane",), "warp": ("lane", "warp"),
                                  "block": ("lane", "warp", "block", "block")}[level])

    def _if(self, scope: Scope) -> Node:
        level = self._lower(scope.level)
        condition = self._condition(scope, level)
        first = self._statements(scope.at(level), 1 + self._dice.below(3))
        if self._dice.chance(0.5):
            return Node(STATEMENT, "if ($) {\n$}\n", [condition, first])
        second = self._statements(scope.at(level), 1 + self._dice.below(2))
        return Node(STATEMENT, "if ($) {\n$} else {\n$}\n", [condition, first, second])

    def _loop(self, scope: Scope) -> Node:
        self._loops += 1
        level, i = self._lower(scope.level), f"i{self._loops}"
        n = 1 + self._dice.below(min(scope.work, 5))
        body = self._statements(scope.loop(level, i, n), 1 + self._dice.below(3))
        bound, condition = self._number(scope, level), self._condition(scope, level)
        rolled = self._dice.choice(("ROLLED ", "ROLLED ", ""))
        text, kids = self._dice.choice((
            (f"{rolled}for (u32 {i} = 0; {i} < {n}u; {i}++) {{\n$}}\n", [body]),
            (f"{rolled}for (u32 {i} = $ % {n + 1}u; {i} < {n + 1}u; {i}++) {{\n$}}\n", [bound, body]),
            (f"for (u32 {i} = 0, end = $ % {n + 1}u; {i} < end; {i}++) {{\n$}}\n", [bound, body]),
            (f"{rolled}for (u32 {i} = {n}u; {i} > 0u; {i} -= 1u) {{\n$}}\n", [body]),
            (f"{{ u32 {i} = 0; while ({i} < {n}u && $) {{\n{i}++;\n$}} }}\n", [condition, body]),
            (f"{{ u32 {i} = 0; do {{\n{i}++;\n$}} while ({i} < {n}u && $); }}\n", [body, condition]),
            (f"{rolled}for (u32 {i} = 0, turn = 0; turn < {n}u; {i} += 3u, turn++) {{\n$}}\n", [body]),
        ))
        return Node(STATEMENT, text, kids)

    def _jump(self, scope: Scope) -> Node:
        return Node(STATEMENT, f"if ($) {self._dice.choice(('break', 'continue'))};\n",
                    [self._condition(scope, scope.level)])

    def _leave(self, scope: Scope) -> Node:
        return Node(STATEMENT, "if ($) return;\n", [self._condition(scope, "lane")])

    def _switch(self, scope: Scope) -> Node:
        level, cases = self._lower(scope.level), 2 + self._dice.below(4)
        text, kids = f"switch ($ % {cases + 1}u) {{\n", [self._number(scope, level)]
        for case in range(cases):
            text += f"case {case}: {{\n$}}\n" + ("break;\n" if self._dice.chance(0.75) else "")
            kids.append(self._statements(scope.at(level), 1 + self._dice.below(2)))
        return Node(STATEMENT, f"{text}default: {{\n$}}\n}}\n", [*kids, self._statements(scope.at(level), 1)])

    def _agree(self, scope: Scope) -> Node:
        """A new value for a variable that is the same in all threads."""
        value = self._expressions.expression("u32", scope, 2, uniform=True)
        return Node(STATEMENT, f"{self._dice.choice(('q0', 'q1'))} = $;\n", [value])

    def _vote(self, scope: Scope) -> Node:
        """Of the whole warp, or of some lanes of it."""
        some = self._dice.chance(0.4)
        members = self._dice.below(1 << 32) | 1 << self._dice.below(32) if some else 0xFFFFFFFF
        chosen = self._dice.choice([lane for lane in range(32) if members >> lane & 1])
        text = self._pick("votes", scope).replace("MEMBERS", f"{members:#x}u").replace("CHOSEN", f"{chosen}")
        node = self._fill(text, scope, self._deep)
        node.text = f"{f'if ({members:#x}u >> lane & 1u) ' if some else ''}{{ {node.text} }}\n"
        return node

    def _count(self, scope: Scope) -> Node:
        """Counters in shared memory: initialised, incremented by all, read by all. The float and the lock
        start at zero, and counters with an upper bound below it."""
        within = replace(scope, level="lane")
        counted = [self._fill(f"{self._dice.choice(self._lists['shared_atomics'])}\n", within, self._deep)
                   for _ in range(1 + self._dice.below(3))]
        read = self._fill("$=u32 = counts[$i % 25u];", scope, 1)
        text = ("{ if (tid < 25u) counts[tid] = tid < 22u ? in32[tid] : 0u;\nif (tid >> 1 == 5u) counts[tid] = 3u;\n"
                f"__syncthreads();\n$__syncthreads(); {read.text} __syncthreads(); }}\n")
        return Node(STATEMENT, text, [counted, *read.kids])

    # ------------------------------------------------------------ functions

    def _call(self, scope: Scope) -> Node:
        """A call whose results are all used, as far as there are variables of their types."""
        call = self._expressions.call(scope, self._deep, statement=True)
        parts = (("u32", "=", "a"), ("u64", "^=", "b"), ("s16", "=", "c"), ("f32", "=", "d"))
        used = [f"{self._dice.choice(scope.write[kind])} {sign} r.{part};"
                for kind, sign, part in parts if kind in scope.write]
        return Node(STATEMENT, f"{{ Result r = {call.text[:-2]}; {' '.join(used)} }}\n", call.kids)

    def _function(self, number: int) -> Node:
        """A device function of several parameters, some with an array of the caller."""
        dice, name = self._dice, f"f_{self._seed}_{number}"
        kinds = [dice.choice(TYPES) for _ in range(1 + dice.below(5))]
        takes_array = dice.chance(0.4)
        parameters: Names = {"u32": []}
        for n, kind in enumerate(kinds):
            parameters.setdefault(kind, []).append(f"p{n}")
        write = {"u32": ["x0"], "u64": ["x1"], "f32": ["x2"]}
        read = {kind: parameters.get(kind, []) + write.get(kind, []) for kind in {**parameters, **write}}
        arrays = {"u32": ["x3[$i & 3u]"], "u64": ["x4[$i & 1u]"]}
        places = {**arrays, "u32": [*arrays["u32"], "array[$i & 7u]"]} if takes_array else arrays
        given = Scope({**parameters, "u32": ["3u", *parameters["u32"]]}, {}, {}, {}, (), in_function=True)
        scope = Scope(read, write, places, arrays, (), work=4, in_function=True, depth=1)
        start = self._fill("u32 x0 = $u32; u64 x1 = $u64; f32 x2 = $f32; u32 x3[4] = {x0, 5u, 6u, 7u};\n"
                           "u64 x4[2] = {x1, 1ull};\n", given, 1)
        body = self._statements(scope, 1 + dice.below(4))
        ends = [self._fill(text, scope, 2) for text in ("if ($b) return {$u32, $u64, $s16, $f32};\n",
                                                        "return {$u32, $u64 + x4[1], $s16, $f32};\n")]
        self._expressions.functions.append((name, kinds, takes_array))
        listed = ", ".join(["u32 *array"] * takes_array + [f"{kind} p{n}" for n, kind in enumerate(kinds)])
        keyword = dice.choice(("__forceinline__", "__noinline__", "__noinline__", "__noinline__"))
        text = f"static __device__ {keyword} Result {name}({listed}) {{\n{start.text}$$$}}\n"
        pure = _pure(name, listed, len(kinds)) if takes_array else ""
        return Node("function", text + pure, [*start.kids, body, *ends])

    # ------------------------------------------------------------ the kernel

    def _scope(self, scalars: Sequence[str]) -> Scope:
        read: Names = {"u32": ["tid", "lane", "gid", "q0", "n", "blockDim.x", "blockIdx.x", "threadIdx.x"]}
        write: Names = {}
        for name, kind in self._variables:
            read.setdefault(kind, []).extend([name] * 4)
            write.setdefault(kind, []).append(name)
        for number, kind in enumerate(scalars):
            read.setdefault(kind, []).append(f"s{number}")
        atomic = {kind: [f"{array}[$i & {size - 1}u]"] for kind, (array, size) in ROW.items()}
        if self._shared:
            atomic["u32"].append("sh32[tid * 4u + ($i & 3u)]")
            atomic["u64"].append("sh64[tid * 2u + ($i & 1u)]")
        places = {kind: list(found) for kind, found in atomic.items()}
        for kind, (array, size) in LOCAL.items():
            places[kind].append(f"{array}[$i & {size - 1}u]")
        integers = (f"s{number}" for number, kind in enumerate(scalars) if kind != "f32")
        return Scope(read, write, places, atomic, ("q0", "q1", "n", "blockIdx.x", "gridDim.x", *integers))

    def _head(self, scalars: Sequence[str]) -> str:
        """The kernel up to its variables; every array is written before it may be read."""
        threads, further = self._threads, "".join(f", {kind} s{number}" for number, kind in enumerate(scalars))
        text = f"""extern "C" __global__
            void k_{self._seed}(const u32 *in32, u8 *out, u64 *common, const Bundle bundle, u32 n{further}) {{
            __shared__ u32 sh32[{4 * threads}], xs[{threads}];
            __shared__ u64 sh64[{2 * threads}], xl[{threads}];
            __shared__ __align__(8) u32 counts[25];
            DYNAMIC_SHARED(dynamic);
            u32 tid = threadIdx.x + threadIdx.y * blockDim.x, lane = tid & 31u, gid = blockIdx.x * {threads}u + tid;
            u8 *row = out + {ROW_BYTES}u * gid, *m8 = row;
            u16 *m16 = (u16 *)(row + 16);
            u32 *m32 = (u32 *)(row + 32);
            u64 *m64 = (u64 *)(row + 64);
            f32 *mf = (f32 *)(row + 96);
            f64 *md = (f64 *)(row + 112);
            u32 q0 = n, q1 = bundle.word[1];
            u32 la32[8] = {{tid, 2u, n, 4u, 5u, gid, 7u, 8u}};
            u64 la64[4] = {{gid, ~0ull, 3ull, n}};
            f32 laf[4] = {{1.0f, (f32)tid, 2.5f, -1.0f}};
            u8 la8[8] = {{1, (u8)tid, 3, 4, 255, 6, 7, (u8)n}};
            """
        if self._shared:
            text += """for (u32 i = 0; i < 4u; i++) sh32[tid * 4u + i] = in32[i] + tid;
            sh64[2u * tid] = gid, sh64[2u * tid + 1u] = 7ull;
            """
        return re.sub(r"\n +", "\n", text)


def generate(seed: int) -> Program:
    """The program of a seed."""
    return Generator(seed).program()


def _pure(name: str, listed: str, count: int) -> str:
    """The function for expressions: it works on a copy of the array, because other operands may read the array, and
    C++ leaves open which operand comes first."""
    listed = listed.replace("u32 *array", "const u32 *given")
    passed = ", ".join(["array", *(f"p{n}" for n in range(count))])
    return (f"static __device__ __noinline__ Result pure_{name}({listed}) {{\n"
            "u32 array[8]; for (u32 i = 0; i < 8u; i++) array[i] = given[i];\n"
            f"return {name}({passed}); }}\n")
