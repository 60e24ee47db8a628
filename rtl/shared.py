"""Equal components as instances of one module, so that the netlist contains each module once."""

import re
from collections.abc import Iterator

from amaranth import ClockSignal, Elaboratable, Instance, ResetSignal, Signal, Value
from amaranth.lib import wiring


def port_signals(component: wiring.Component) -> Iterator[tuple[str, wiring.Flow, Signal]]:
    """(name, direction, signal) of each port, without a stream's constant valid or ready."""
    for path, member, value in component.signature.flatten(component):
        signal = Value.cast(value)
        if isinstance(signal, Signal):
            yield "__".join(map(str, path)), member.flow, signal


def module_name(unit: str) -> str:
    """The Verilog name of a unit: `SubBank` is sub_bank."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", unit).lower()


class SharedModules:
    """The platform for netlists: it collects the components that several instances share."""

    def __init__(self) -> None:
        self.pending: dict[str, wiring.Component] = {}

    def instance(self, name: str, component: wiring.Component, *, clocked: bool) -> Instance:
        """An instance of module `name`, of which `component` is one example."""
        self.pending.setdefault(name, component)
        directions = {wiring.In: "i", wiring.Out: "o"}
        ports = {f"{directions[flow]}_{port}": signal for port, flow, signal in port_signals(component)}
        clock = {"i_clk": ClockSignal(), "i_rst": ResetSignal()} if clocked else {}
        return Instance(name, **clock, **ports)


def share(platform: object, name: str, component: wiring.Component, *, clocked: bool = True) -> Elaboratable:
    """The submodule for one of several components that differ only in their connections.

    For a netlist it is an instance of the module `name`; otherwise (a simulation) the component itself. Combinational
    components are not `clocked`.
    """
    return platform.instance(name, component, clocked=clocked) if isinstance(platform, SharedModules) else component
