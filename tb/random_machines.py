"""Random machines, to test units under sizes and combinations of settings that no named core has."""

import dataclasses
import random
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Pipe
from warploom.arch.layout import fitting_warps
from warploom.arch.pipes import PipeConfig, Sharing
from warploom.tb.combinations import AXES
from warploom.tb.datapath_driver import REGISTERS

WARPS = 8
"""Warps of a machine, at most."""

CHANCE = 0.4
"""Of each setting to differ from its default. Most settings exclude some others."""

SIZES: dict[str, tuple[Any, ...]] = {
    "schedulers": (1, 2, 3, 4), "issue_ports": (1, 2, 4), "banks": (1, 2, 4, 8), "rows": (16, 32, 64, 128, 256),
    "bank_ports": (1, 2), "collectors": (1, 2, 3, 5), "sfu_collectors": (0, 1), "mem_collectors": (0, 1, 2),
    "arrival_delay": (0, 1), "turnaround": (0, 1), "dispatch_delay": (0, 1), "window": (2, 3, 5, 8),
    "entries": (4, 5, 8, 12, 32), "drowsy": (0, 1, 3), "tfet_rows": (0, 1, 8, 16, 64),
}
"""Sizes and delays, each with the values to choose from."""


def machine(seed: int) -> SmConfig:
    """A legal machine with hardware, in whose register file all warps have the registers that the datapath's bench
    names."""
    rng, small = random.Random(seed), SmConfig.preset("small")
    while True:
        row = {name: rng.choice(values) for name, values in (AXES | SIZES).items() if rng.random() < CHANCE}
        schedulers = row.get("schedulers", small.schedulers)
        row["warps"] = schedulers * rng.randint(1, WARPS // schedulers)
        try:
            found = dataclasses.replace(small, **row, pipes=_pipes(rng, small.pipes, schedulers))
            found.check_hardware()
        except ConfigError:
            continue
        if fitting_warps(found, REGISTERS) >= found.warps:
            return found


def _pipes(rng: random.Random, pipes: tuple[PipeConfig, ...], schedulers: int) -> tuple[PipeConfig, ...]:
    """Pipes of random numbers, lanes, queues, paths and ports, which may be illegal together."""
    made: list[PipeConfig] = []
    for pipe in pipes:
        copies = 1 if pipe.kind is Pipe.MEM else rng.randint(1, schedulers)
        changes: dict[str, Any] = {
            "lanes": rng.choice((32, 32, 16, 12, 8)), "sharing": rng.choice((Sharing.OWN, Sharing.OWN, *Sharing))}
        if pipe.kind is Pipe.SP:
            changes["result_queue"] = rng.choice((0, 1, 2, 3)) if copies == 1 else rng.randint(1, 3)
        else:
            changes["credits"] = rng.choice((1, 2, 8))
        made += (dataclasses.replace(pipe, **changes, name=f"{pipe.name}{number}" if number else pipe.name)
                 for number in range(copies))
    paths, ports = _numbers(rng, len(made)), _numbers(rng, len(made))
    return tuple(dataclasses.replace(pipe, write_path=path, dispatch_port=port)
                 for pipe, path, port in zip(made, paths, ports, strict=True))


def _numbers(rng: random.Random, count: int) -> list[int]:
    """A number for each pipe, without gaps."""
    numbers = [0]
    while len(numbers) < count:
        numbers.append(rng.randint(0, max(numbers) + 1))
    return numbers
