"""Write paths, each of which several write latches share."""

from functools import partial, reduce
from typing import Any, NamedTuple

from amaranth import Module, Mux, Signal, Value

from warploom.arch.pipes import WritePaths

Carried = dict[str, Value]
"""What a write latch, or a write path, holds, by name: `claim`, that it has a result which writes a register;
`request`, that it wants a bank; `grant`, that the bank takes it; `bank` and `row`, `data` and `lanes`; and what the
stored form and delivery add."""


class Entering(NamedTuple):
    """The port of a writer's results at its latch; `written` says that the latch takes one in this cycle which will be
    written to the register file."""

    writer: str
    result: Any
    written: Value


def write_paths(m: Module, paths: WritePaths, latches: list[Carried]) -> list[Carried]:
    """What the paths carry, from what the latches of the writers hold."""
    return [reduce(partial(_merge, m), map(latches.__getitem__, path)) for path in paths]


def _merge(m: Module, first: Carried, second: Carried) -> Carried:
    """One path of two: it carries what the first latch has that claims it, else what the second one has."""
    path = {name: Signal(value.shape(), name=f"path_{name}") for name, value in first.items()}
    m.d.comb += [signal.eq(Mux(first["claim"], first[name], second[name])) for name, signal in path.items()]
    return path | {"grant": first["grant"] | second["grant"]}
