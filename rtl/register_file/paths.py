"""Write paths; several write latches share one."""

from functools import partial, reduce
from typing import Any, NamedTuple

from amaranth import Module, Mux, Signal, Value

from warploom.arch.pipes import WritePaths

Carried = dict[str, Value]
"""The signals of a write latch or a write path, by name: `claim`, it has a result that writes a register; `request`, it
requests a bank; `grant`, the bank takes it; `bank` and `row`, `data` and `lanes`; and the signals that the stored form
and delivery add."""


class Entering(NamedTuple):
    """The port of a writer's results at its latch."""

    writer: str
    result: Any


def write_paths(m: Module, paths: WritePaths, latches: list[Carried]) -> list[Carried]:
    """The signals of the paths, from those of the writers' latches."""
    return [reduce(partial(_merge, m), map(latches.__getitem__, path)) for path in paths]


def _merge(m: Module, first: Carried, second: Carried) -> Carried:
    """One path of two latches: it carries the first one if that claims it, else the second one."""
    path = {name: Signal(value.shape(), name=f"path_{name}") for name, value in first.items()}
    m.d.comb += [signal.eq(Mux(first["claim"], first[name], second[name])) for name, signal in path.items()]
    return path | {"grant": first["grant"] | second["grant"]}
