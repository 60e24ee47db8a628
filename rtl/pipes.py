# amaranth: UnusedElaboratable=no
"""The pipes: integer lanes here, floating point, special functions, loads and stores outside."""

from amaranth import Module, Mux
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import trivial_fields
from warploom.rtl import ports
from warploom.rtl.integer import IntegerUnit
from warploom.rtl.interfaces import dispatch_layout, result_layout, sent_layout, unstoppable
from warploom.rtl.lane import STAGES
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.shared import share


class Pipes(wiring.Component):
    """Integer operations of SP execute in the lanes; everything that is dispatched is shown to the units outside.

    Parameters
    ----------
    config : the machine.
    probe : add the ports `lane_loads` and `bypass_loads`.

    Members
    -------
    dispatch : instructions with their operands (`warploom.rtl.ports.dispatch`).
    outside : the same, for the units outside.
    outside_result : results of SP that come from outside, each in exactly its write-back slot.
    result : results of SP, of the lanes or from outside.
    lane_loads, bypass_loads : with a probe, for each stage, the lanes whose stage register or bypass loads.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self.integer_unit = IntegerUnit(config=config, probe=probe)
        result = unstoppable(result_layout(config))
        loads = {"lane_loads": Out(data.ArrayLayout(LANES, STAGES)),
                 "bypass_loads": Out(data.ArrayLayout(LANES, STAGES - 1))}
        super().__init__({
            "dispatch": In(ports.dispatch(config)), "outside": Out(unstoppable(sent_layout(config))),
            "outside_result": In(result), "result": Out(result),
            **(loads | probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        unit, sent = self.integer_unit, self.dispatch.sent
        m.submodules.integer_unit = share(platform, "integer_unit", unit)
        connect(m, flipped(sent), flipped(self.outside))
        lanes, outside = unit.result, self.outside_result
        m.d.comb += [
            unit.dispatch.valid.eq(sent.valid),
            *(unit.dispatch.payload[name].eq(sent.payload[name]) for name, _ in dispatch_layout(self._config)),
            *(getattr(unit, name).eq(sent.payload[name]) for name, _ in trivial_fields(self._config)),
            unit.control.eq(self.dispatch.control),
            self.result.valid.eq(lanes.valid | outside.valid),
            self.result.payload.eq(Mux(outside.valid, outside.payload, lanes.payload)),
        ]
        if self._with_probe:
            gated = self._config.gates_columns
            m.d.comb += [self.lane_loads.eq(unit.loads), self.bypass_loads.eq(unit.bypass_loads if gated else 0)]
            show(m, self)
        return m

    def observe(self) -> Shown:
        """The state of the parts."""
        return gather(self.integer_unit)
