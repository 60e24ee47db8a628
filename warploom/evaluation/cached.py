"""Cached results: looked up in the cache, or computed by workers and stored there.

A result has all its inputs as its key, so that an interrupted evaluation continues where it stopped, and a second one
has nothing to compute. A point that fails does not stop the others.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from socket import gethostname
from typing import Any, Generic, NamedTuple, TypeVar

from warploom import points, store
from warploom.arch.errors import ToolError, WarploomError
from warploom.evaluation.workloads import traces
from warploom.golden_model.trace import Trace
from warploom.store import Key, Kind

P = TypeVar("P")
R = TypeVar("R")

SOURCES = ("warploom/arch", "warploom/compiler", "warploom/kernels", "warploom/golden_model", "warploom/host",
           "warploom/programs", "warploom/evaluation/workloads.py")
"""The inputs of the traces of workloads."""


class Sized(NamedTuple):
    """A workload in a size: a point of work for which no configuration matters."""

    workload: str
    size: str


@dataclass(frozen=True)
class Work(Generic[P, R]):
    """A kind of work, by functions of modules, which workers import. `make` computes a point, as the text that is
    cached; `read` decodes the text, and raises `LookupError`, `TypeError` or `ValueError` for that of another version;
    `name` and `inputs` are of a point's key. Results depend on the files in `sources`, too."""

    make: Callable[[P], str]
    read: Callable[[P, str], R]
    name: Callable[[P], str]
    inputs: Callable[[P], dict[str, Any]]
    sources: tuple[str, ...]

    def key(self, point: P, sources: str) -> Key:
        """The key of a point's result; `sources` is a digest of these."""
        return Key(Kind.SIMULATIONS, self.name(point), {**self.inputs(point), "sources": sources})


def of_traces(
    what: str, count: Callable[[Sequence[Trace]], R], restore: Callable[..., R], *sources: str
) -> Work[Sized, R]:
    """The work of counting something in the traces of a workload's launches. `what` begins the name of a result;
    `count` makes a dataclass from the traces, and `restore` makes it again from its fields as JSON has them; both are
    functions of modules. Results depend on the files in `sources` beside those that make the traces."""
    return Work(partial(_counted, count), partial(restored, restore), partial(named, what), Sized._asdict,
                (*SOURCES, *sources))


def _counted(count: Callable[[Sequence[Trace]], Any], point: Sized) -> str:
    return json.dumps(asdict(count(traces(*point))))


def restored(restore: Callable[..., R], _: Sized, text: str) -> R:
    """A result, made again from its fields in a cached text."""
    return restore(**json.loads(text))


def named(what: str, point: Sized) -> str:
    """The name of the result of a point; `what` begins it."""
    return f"{what}-{point.workload}-{point.size}"


def results(
    work: Work[P, R], wanted: Iterable[P], done: Callable[[P], None], scheduler: str | None = None
) -> dict[P, R | WarploomError]:
    """Every point with its result, or with the error that it raised. Computes what is not cached, each point once, in
    this order: on this machine, or on the cluster with this address. Calls `done` with each point when it ends. Raises
    `ToolError` if there is no such cluster."""
    store.need_place()
    sources = _digest(work.sources)
    keys = {point: work.key(point, sources) for point in wanted}
    found: dict[P, R | WarploomError] = {}
    for point, key in keys.items():
        if (known := store.get(key, partial(work.read, point))) is not None:
            found[point] = known
            done(point)
    missing = [(work, point, key) for point, key in keys.items() if point not in found]
    with closing(points.compute(_make, missing, scheduler)) as ended:
        for (_, point, key), result in ended:
            found[point] = result if isinstance(result, WarploomError) else store.text(
                key, partial(_given, result), partial(work.read, point))
            done(point)
    return found


@cache
def _digest(sources: tuple[str, ...]) -> str:
    """The digest of the sources of a result, as this process reads them."""
    return store.sources(*sources)


def _make(task: tuple[Work[P, Any], P, Key]) -> str:
    """A result as it is cached; in a worker, which has a cache of its own if it is on another machine."""
    work, point, key = task
    if key.parts["sources"] != _digest(work.sources):
        raise ToolError(f"a worker on {gethostname()} has other sources of Warploom: install this version there")
    return store.text(key, lambda _: work.make(point), partial(_checked, work, point))


def _given(text: str, _: Path) -> str:
    """The text that a worker on another machine made, for the cache of this one."""
    return text


def _checked(work: Work[P, Any], point: P, text: str) -> str:
    """The text, if it is a result's. Raises what `read` raises."""
    work.read(point, text)
    return text
