# amaranth: UnusedElaboratable=no
"""The pipes: integer lanes inside; floating point, special functions, loads and stores outside."""

from typing import Any

from amaranth import Cat, Module, Mux
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
    """Executes integer operations of SP in the lanes, and shows all dispatched instructions to the units outside.

    Parameters
    ----------
    config : the machine.
    probe : add the ports `lane_loads` and `bypass_loads`.

    Members
    -------
    dispatch : instructions with their operands (`warploom.rtl.ports.dispatch`); `dispatch_0`, ... if there are several
        ports, and likewise `outside`.
    outside : the same, for the units outside.
    outside_sp, ... : for each pipe of SP, results that come from outside, each in exactly its write-back slot.
    result_sp, ... : results of each pipe of SP, from the lanes or from outside.
    lane_loads, bypass_loads : with a probe, for each stage of each pipe of SP, the lanes whose stage register or bypass
        loads.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._outside = {name: name.replace("dispatch", "outside") for name in config.dispatch_ports}
        self.units = {pipe.name: IntegerUnit(config=config, number=number, probe=probe)
                      for number, pipe in enumerate(ports.sp_pipes(config))}
        result = unstoppable(result_layout(config))
        loads = {"lane_loads": Out(data.ArrayLayout(LANES, config.lane_stages * len(self.units))),
                 "bypass_loads": Out(data.ArrayLayout(LANES, (STAGES - 1) * len(self.units)))}
        super().__init__({
            **{name: In(ports.dispatch(config)) for name in self._outside},
            **{name: Out(unstoppable(sent_layout(config))) for name in self._outside.values()},
            **{f"outside_{name}": In(result) for name in self.units},
            **{f"result_{name}": Out(result) for name in self.units},
            **(loads | probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, outside in self._outside.items():
            connect(m, flipped(getattr(self, name).sent), flipped(getattr(self, outside)))
        for number, (name, unit) in enumerate(self.units.items()):
            alone = len(self.units) == 1
            module = "integer_unit" if alone else f"{name}_integer_unit"
            m.submodules[module] = share(platform, module, unit)
            port = list(self._outside)[self._config.pipes[number].dispatch_port]
            self._connect(m, unit, getattr(self, port), None if alone else number)
            lanes, outside = unit.result, getattr(self, f"outside_{name}")
            result = getattr(self, f"result_{name}")
            m.d.comb += [
                result.valid.eq(lanes.valid | outside.valid),
                result.payload.eq(Mux(outside.valid, outside.payload, lanes.payload)),
            ]
        if self._with_probe:
            units, gated = self.units.values(), self._config.gates_columns
            m.d.comb += [self.lane_loads.eq(Cat(unit.loads for unit in units)),
                         self.bypass_loads.eq(Cat(unit.bypass_loads for unit in units) if gated else 0)]
            show(m, self)
        return m

    def _connect(self, m: Module, unit: IntegerUnit, port: Any, number: int | None) -> None:
        """Connect the lanes of a pipe to its dispatch port; if several pipes share it, only for instructions of this
        one."""
        sent = port.sent
        m.d.comb += [
            unit.dispatch.valid.eq(sent.valid if number is None else sent.valid & (sent.payload.pipe == number)),
            *(unit.dispatch.payload[name].eq(sent.payload[name]) for name, _ in dispatch_layout(self._config)),
            *(getattr(unit, name).eq(sent.payload[name]) for name, _ in trivial_fields(self._config)),
            unit.control.eq(port.control),
        ]

    def observe(self) -> Shown:
        """The state of the parts."""
        return gather(*self.units.values())
