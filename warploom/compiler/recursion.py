"""Recursive functions: which they are, their calls, and where these return to.

Functions that call each other in a circle, a strongly connected component of the call graph, are not inlined into each
other. Each call from outside is followed by a *region*: the code of the functions of the component that are needed,
each once. A call inside the region is a branch to the function, with the number of its return site on the stack.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile

from warploom.compiler import branch_tables, ptx
from warploom.compiler.names import Names
from warploom.compiler.symbols import STACK

OUTERMOST = 0xFFFFFFFF
"""The number of the return site of the call that enters a region."""

NUMBER_BYTES = 4

Returns = list[ptx.Call]
"""The calls of a region; the first one enters it."""


class Recursion(Exception):
    """Some functions call each other in a circle, which was not known: flattening has to begin again."""

    def __init__(self, functions: Iterable[str]) -> None:
        super().__init__()
        self.functions = tuple(functions)


class Components:
    """The functions that call each other in circles, as far as they have been found."""

    def __init__(self) -> None:
        self._found: dict[str, set[str]] = {}

    def join(self, functions: Iterable[str]) -> None:
        """Functions that call each other in a circle are of one component."""
        joined = set[str]().union(*map(self.of, functions))
        self._found.update(dict.fromkeys(joined, joined))

    def of(self, function: str) -> set[str]:
        """The component of a function, which is alone if it is not recursive."""
        return self._found.get(function, {function})

    def is_recursive(self, function: str, calls: Sequence[str]) -> bool:
        """Whether a function that is called is recursive. `calls` are the functions that have not returned. Raises
        `Recursion` if some of them are of its component, and this was not known."""
        component = self.of(function)
        circle = list(dropwhile(lambda name: name not in component, calls))
        if circle and not (function in self._found and component.issuperset(circle)):
            raise Recursion((*circle, function))
        return function in self._found


class Regions:
    """The calls of recursive functions, by region, and the functions that stand there."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._calls: dict[str, Returns] = {}
        self._activations: dict[tuple[str, str], ptx.Activation] = {}

    @property
    def calls(self) -> tuple[ptx.Call, ...]:
        """All calls."""
        return tuple(call for calls in self._calls.values() for call in calls)

    @property
    def state(self) -> tuple[dict[str, Returns], dict[tuple[str, str], ptx.Activation]]:
        """What there is now, to come back to."""
        return {region: list(calls) for region, calls in self._calls.items()}, dict(self._activations)

    def reset(self, state: tuple[dict[str, Returns], dict[tuple[str, str], ptx.Activation]]) -> None:
        """Forget all that was added since."""
        self._calls, self._activations = state

    def find(self, function: str, region: str) -> ptx.Activation | None:
        """A function that stands in a region already."""
        return self._activations.get((region, function))

    def add(self, function: ptx.Function, region: str, unique: str, at: ptx.Instruction) -> ptx.Activation:
        """A function that will stand in a region."""
        arguments, returns = (tuple(replace(formal, name=f"{formal.name}@{unique}@passed") for formal in group)
                              for group in (function.parameters, function.returns))
        for formal in (*arguments, *returns):
            if formal.space == "reg":
                self._names.registers[formal.name] = formal.type
            else:
                self._names.record(formal.name, formal, at)
        activation = ptx.Activation(function.name, region, f"{unique}@start", arguments, returns)
        self._activations[region, function.name] = activation
        return activation

    def call(self, unique: str, caller: ptx.Activation | None, callee: ptx.Activation, stop: int,
             line: int) -> ptx.Call:
        """A call, the first one of its region if nothing has called it there."""
        calls = self._calls.setdefault(callee.region, [])
        calls.append(ptx.Call(f"{unique}@leaves", f"{unique}@site", len(calls) - 1, caller, callee, enters=not calls,
                              stop=stop, line=line))
        return calls[-1]

    def returns(self, region: str, at: ptx.Instruction) -> Iterator[ptx.Instruction | ptx.Label]:
        """Where all functions of a region return: a branch to where their call has come from. First those branch whose
        outermost call returns; all others meet here again."""
        enters, *others = self._calls[region]
        yield ptx.Label(returning(region), at.line)
        if not others:
            return
        site, last = ptx.Register(f"{region}@number"), ptx.Register(f"{region}@last")
        self._names.registers |= {site.name: "u32", last.name: "pred", STACK: "u32"}
        plain = replace(at, guard=None, lists=None)
        top = ptx.Address(ptx.Register(STACK), -NUMBER_BYTES)
        yield replace(plain, opcode="ld", modifiers=("local", "u32"), operands=(site, top))
        yield replace(plain, opcode="setp", modifiers=("eq", "u32"),
                      operands=(last, site, ptx.Immediate("int", OUTERMOST)))
        yield replace(branch(enters.site, plain), guard=last)
        yield from branch_tables.branches(plain, site, [call.site for call in others], last)


def returning(region: str) -> str:
    """The label where the functions of a region return."""
    return f"{region}@return"


def branch(target: str, at: ptx.Instruction) -> ptx.Instruction:
    """A branch of all lanes."""
    return replace(at, opcode="bra", modifiers=(), operands=(ptx.Symbol(target),), guard=None, lists=None)
