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
"""The ports of each set to the front end."""


def edges(config: SmConfig) -> dict[str, wiring.Member]:
    """The members of the sets of a configuration, of all four edges."""
    each = {
        "attempt": In(unstoppable(attempt_layout(config))), "outcome": Out(unstoppable(outcome_layout(config))),
        "uniform": Out(unstoppable(UNIFORM)), "uniform_result": In(unstoppable(UNIFORM_RESULT)),
    }
    return {f"{name}_{s}": each[name] for s in range(config.schedulers) for name in EDGES}


class AffineSets(wiring.Component):
    """The set of an instruction's warp looks up the values of its compact slots, which come one cycle later.

    Parameters
    ----------
    config : sizes, and which operations are eligible.
    probe : add assertions for a bench.

    Members
    -------
    attempt_0, ... : for each set an instruction that is to execute there.
    outcome_0, ... : the outcomes of attempts.
    uniform_0, uniform_result_0, ... : attempts for the uniform unit, and its results, in a fixed cycle.
    registers : registers of a thread; static during a launch.
    issue : the instruction at each issue input of the datapath.
    generic : the same without reads of compact slots, for the operand store.
    compact : for each input, its compact slots, and whether it is taken (`warploom.rtl.ports.compact`).
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        super().__init__({
            **edges(config), "registers": In(8),
            "issue": In(unstoppable(issue_layout(config))).array(config.issue_inputs),
            "generic": Out(unstoppable(issue_layout(config))).array(config.issue_inputs),
            "compact": Out(ports.compact()).array(config.issue_inputs),
        })
        self._config = config
        self.units = [AffineUnit(config=config, probe=probe) for _ in range(config.schedulers)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for s, unit in enumerate(self.units):
            m.submodules[f"affine_unit_{s}"] = share(platform, "affine_unit", unit)
            for name in EDGES:
                connect(m, getattr(unit, name), flipped(getattr(self, f"{name}_{s}")))
            m.d.comb += unit.registers.eq(self.registers)
        for number in range(len(self.issue)):
            self._look_up(m, number)
        return m

    def _look_up(self, m: Module, number: int) -> None:
        """Of the sets whose schedulers the port of an input serves, the one of the warp looks up the instruction."""
        issue, compact, count = self.issue[number].payload, self.compact[number], self._config.issue_ports
        port, place = divmod(number, self._config.issue_per_warp)
        looking = "first" if self._config.has_pairs and not place else "lookup"
        units, ports_bits = self.units[port::count], exact_log2(count)
        mine, was_mine = (Signal(len(units), name=f"{name}_{number}") for name in ("set", "previous_set"))
        selected = issue.warp[ports_bits:][: exact_log2(len(units))]
        m.d.comb += mine.eq(1 << selected if len(units) > 1 else 1)
        m.d.sync += was_mine.eq(mine)
        for s, unit in enumerate(units):
            lookup = getattr(unit, looking)
            m.d.comb += [
                lookup.valid.eq(compact.taken & mine[s]),
                *(lookup.payload[name].eq(issue[name]) for name, _ in lookup.payload.shape()),
            ]
        m.d.comb += [
            compact.slots.compact.eq(issue.compact),
            Value.cast(compact.slots["values"]).eq(merge(was_mine, [Value.cast(unit.values) for unit in units])),
            self.generic[number].valid.eq(self.issue[number].valid),
            self.generic[number].payload.eq(issue),
            self.generic[number].payload.reads.eq(issue.reads & ~compact.slots.compact),
        ]
