"""Short simulations of components in Amaranth's simulator, with inputs by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.lib import data, wiring
from amaranth.sim import Simulator


def simulate(unit: Any, cycles: Sequence[Mapping[str, int]], before: int = 0) -> None:
    """Some cycles with these inputs, by path; others are zero."""
    inputs = {"__".join(map(str, path)): value for path, member, value in unit.signature.flatten(unit)
              if member.flow is wiring.In}

    async def bench(context: Any) -> None:
        await context.tick().repeat(before) if before else None
        for cycle in (*cycles, {}, {}):
            for name, signal in inputs.items():
                fields = {part.partition(".")[2]: value for part, value in cycle.items() if part.startswith(f"{name}.")}
                context.set(signal, fields if isinstance(signal, data.View) else cycle.get(name, 0))
            await context.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
