"""Kernels as threads under both schedulers: run times and loads, simulated once and cached."""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, Self

from warploom import points, store
from warploom.arch.errors import WarploomError
from warploom.evaluation.workloads import traces
from warploom.placement.outcome import Outcome
from warploom.placement.policy import Policy
from warploom.placement.programs import Piece, pieces, threads
from warploom.placement.scheduler import Machine, simulate
from warploom.store import Key, Kind

COUNTS, SPEEDS = (8, 12, 15, 16), (200, 800)
"""Threads, and MHz of the memory bus, of the dissertation's experiments on 16 cores."""

ROUNDS = 200
"""Launches of a kernel in a run."""

INPUTS = {"small": 10, "medium": 30, "large": 100, "native": 7000}
"""Launches in Fig. 5.6: *native* is 700 times as long as *small*, and 70 times as long as *large*."""

LOADED = 12
"""Threads and cores in Fig. 5.6."""

SOURCES = ("warploom/arch", "warploom/compiler", "warploom/kernels", "warploom/golden_model", "warploom/placement",
           "warploom/evaluation/placement_runs.py", "warploom/evaluation/workloads.py")
"""The inputs of a result."""


@dataclass(frozen=True)
class Placed:
    """A kernel as threads. `times` are run times in ns, by `setting`; `loads` are the work of the busiest core, in
    percent of that of a thread, by the names of `INPUTS`; `most` is the greatest number of threads that were forked to
    one core, by `setting`."""

    times: dict[str, int]
    loads: dict[str, float]
    most: dict[str, int]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """A cached one."""
        return cls(**json.loads(text))

    def time(self, policy: Policy, count: int, mhz: int) -> int:
        """The run time with `count` threads and a bus of `mhz`."""
        return self.times[setting(policy, count, mhz)]


def setting(policy: Policy, count: int, mhz: int) -> str:
    """The name of a setting."""
    return f"{policy}, {count} threads, {mhz} MHz"


def place_all(kernels: Sequence[str], size: str, done: Callable[[str], None]) -> dict[str, Placed]:
    """Every kernel, in separate processes. Calls `done` with each when it ends. Raises `WarploomError`."""
    store.need_place()
    sources = store.sources(*SOURCES)
    keys = {name: Key(Kind.SIMULATIONS, f"placement-{name}-{size}", _inputs(name, size, sources)) for name in kernels}
    found = {name: known for name, key in keys.items() if (known := store.get(key, Placed.from_json)) is not None}
    for name in found:
        done(name)
    missing = [(name, size, key) for name, key in keys.items() if name not in found]
    with closing(points.compute(_place, missing)) as ended:
        for (name, _, _), placed in ended:
            if isinstance(placed, WarploomError):
                raise placed
            found[name] = placed
            done(name)
    return {name: found[name] for name in kernels}


def place(work: Sequence[Piece]) -> Placed:
    """A kernel under every setting."""
    outcomes = {setting(policy, count, mhz): simulate(Machine(policy=policy), threads(work, count, ROUNDS, mhz))
                for policy in Policy for count in COUNTS for mhz in SPEEDS}
    loads = {name: _load(work, launches) for name, launches in INPUTS.items()}
    return Placed({name: outcome.time for name, outcome in outcomes.items()}, loads,
                  {name: _most(outcome) for name, outcome in outcomes.items()})


def _place(point: tuple[str, str, Key]) -> Placed:
    name, size, key = point
    return store.text(key, lambda _: json.dumps(asdict(place(pieces(*traces(name, size))))), Placed.from_json)


def _inputs(name: str, size: str, sources: str) -> dict[str, Any]:
    return {"kernel": name, "size": size, "sources": sources}


def _load(work: Sequence[Piece], launches: int) -> float:
    busy = simulate(Machine(cores=LOADED), threads(work, LOADED, launches, SPEEDS[-1])).busy(LOADED)
    return 100 * max(busy) * (LOADED - 1) / sum(busy)


def _most(outcome: Outcome) -> int:
    cores = list(outcome.first_cores().values())
    return max(map(cores.count, cores))
