# amaranth: UnusedElaboratable=no
"""The sets of the affine unit, one for each scheduler ([AFFINE], section 4)."""

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from warploom.arch.config import SmConfig
from warploom.rtl import ports
from warploom.rtl.affine.unit import AffineUnit
from warploom.rtl.interfaces import UNIFORM, UNIFORM_RESULT, attempt_layout, issue_layout, outcome_layout, unstoppable
from warploom.rtl.select import merge
from warploom.rtl.shared import share

EDGES = ("attempt", "outcome", "uniform", "uniform_result")
"""What each set exchanges with the front end."""


def edges(config: SmConfig) -> dict[str, wiring.Member]:
    """The members of the sets of a configuration, of all four edges."""
    each = {
        "attempt": In(unstoppable(attempt_layout(config))), "outcome": Out(unstoppable(outcome_layout(config))),
        "uniform": Out(unstoppable(UNIFORM)), "uniform_result": In(unstoppable(UNIFORM_RESULT)),
    }
    return {f"{name}_{s}": each[name] for s in range(config.schedulers) for name in EDGES}


class AffineSets(wiring.Component):
    """The set of its warp tells which slots of an instruction are compact, and a cycle later what they are.

    Parameters
    ----------
    config : sizes, and which operations are eligible.

    Members
    -------
    attempt_0, ... : for each set an instruction that is to execute there.
    outcome_0, ... : what became of the attempts.
    uniform_0, uniform_result_0, ... : attempts for the uniform unit, and its answers, which are exactly in time.
    registers : registers of a thread; static during a launch.
    issue : the instruction at the issue port of the datapath.
    compact : its compact slots, and whether it is taken (`warploom.rtl.ports.compact`).
    """

    def __init__(self, *, config: SmConfig) -> None:
        super().__init__({
            **edges(config), "registers": In(8), "issue": In(issue_layout(config)), "compact": Out(ports.compact()),
        })
        self.units = [AffineUnit(config=config) for _ in range(config.schedulers)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sets = len(self.units)
        mine, was_mine = Signal(sets, name="set"), Signal(sets, name="previous_set")
        m.d.comb += mine.eq(1 << self.issue.warp[: exact_log2(sets)] if sets > 1 else 1)
        m.d.sync += was_mine.eq(mine)
        for s, unit in enumerate(self.units):
            m.submodules[f"affine_unit_{s}"] = share(platform, "affine_unit", unit)
            for name in EDGES:
                connect(m, getattr(unit, name), flipped(getattr(self, f"{name}_{s}")))
            lookup = unit.lookup.payload
            m.d.comb += [
                unit.registers.eq(self.registers),
                unit.lookup.valid.eq(self.compact.taken & mine[s]),
                *(lookup[name].eq(self.issue[name]) for name, _ in lookup.shape()),
            ]
        slots = self.compact.slots
        m.d.comb += [
            slots.compact.eq(merge(mine, [unit.compact for unit in self.units])),
            Value.cast(slots["values"]).eq(merge(was_mine, [Value.cast(unit.values) for unit in self.units])),
        ]
        return m
