# amaranth: UnusedElaboratable=no
"""The integer unit with lanes that hold their registers (docs/contract/pipes.md, *Integer lanes*)."""

from amaranth import Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from rtl.gating.lane import GatedLane, HoldingLane
from rtl.integer import IntegerUnit
from rtl.lane import STAGES
from warploom.arch.config import LANES
from warploom.arch.interfaces import OUTCOME_BITS, trivial_fields


class GatedIntegerUnit(IntegerUnit):
    """An integer unit whose lanes load only what they execute and, with a zero mask, only what is not trivial.

    Members
    -------
    trivial : with a zero mask only, the `Outcome` of each lane, beside `dispatch`.
    bypass_loads : with a probe, for each of the first two stages the lanes whose bypass loads at the end of the cycle;
        without a zero mask there is none.
    """

    def _ports(self) -> dict[str, wiring.Member]:
        return {
            **super()._ports(),
            **{name: In(bits) for name, bits in trivial_fields(self._config)},
        }

    def _load_masks(self) -> dict[str, data.ArrayLayout]:
        return {**super()._load_masks(), "bypass_loads": data.ArrayLayout(LANES, STAGES - 1)}

    def _create_lane(self) -> HoldingLane:
        return GatedLane() if self._config.gating.has_zero_mask else HoldingLane()

    def _enable(self, m: Module, lanes: list[HoldingLane], held: Value) -> None:
        m.d.comb += self.bypass_loads.eq(0)
        for i, lane in enumerate(lanes):
            m.d.comb += lane.executes.eq(held[0] & self.dispatch.payload.lanes[i])
            enabled = [*zip(self.loads, lane.loads, strict=True)]
            if isinstance(lane, GatedLane):
                m.d.comb += lane.outcome.eq(self.trivial.word_select(i, OUTCOME_BITS))
                enabled += zip(self.bypass_loads, lane.bypass_loads, strict=True)
            m.d.comb += [loads[i].eq(load) for loads, load in enabled]
