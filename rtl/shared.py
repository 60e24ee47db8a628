"""Equal components as instances of one module, so that the netlist contains each module once."""

import re
from collections.abc import Iterator

from amaranth import ClockSignal, Elaboratable, Instance, ResetSignal, Signal, Value
from amaranth.lib import wiring

from warploom.arch.errors import ConfigError


def port_signals(component: wiring.Component) -> Iterator[tuple[str, wiring.Flow, Signal]]:
    """(name, direction, signal) of each port, without a stream's constant valid or ready."""
    for path, member, value in component.signature.flatten(component):
        signal = Value.cast(value)
        if isinstance(signal, Signal):
            yield "__".join(map(str, path)), member.flow, signal


def module_name(unit: str) -> str:
    """The Verilog name of a unit: `SubBank` is sub_bank."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", unit).lower()


NUMBERED = (1 << 16) - 4
"""Input bits that Amaranth can number in a module, and output bits in an instance; clock, reset and two constants have
the others."""


LONGEST = 1 << 16
"""Bits that Amaranth can number in a signal."""


def check_length(what: str, bits: int, most: int = LONGEST) -> None:
    """Raise `ConfigError` for what has more bits than Amaranth can number."""
    if bits > most:
        raise ConfigError(f"{what}: {bits:,} bits, and Amaranth numbers at most {most:,}: use a smaller machine")


class SharedModules:
    """The platform for netlists: it collects the components that several instances share.

    Parameters
    ----------
    fpga : for an FPGA, whose LUTs are memories of 16 words, too: small memories are cheap, and multiplexers dear.
    """

    def __init__(self, *, fpga: bool = False) -> None:
        self.fpga = fpga
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

    For a netlist it is an instance of the module `name`; otherwise (a simulation) the component itself, and also if it
    has more bits than Amaranth can number (collectors with windows for many warps). Combinational components are not
    `clocked`.
    """
    if not isinstance(platform, SharedModules) or max(port_bits(component).values()) > NUMBERED:
        return component
    return platform.instance(name, component, clocked=clocked)


def is_fpga(platform: object) -> bool:
    """Whether the netlist is for an FPGA."""
    return isinstance(platform, SharedModules) and platform.fpga


def port_bits(component: wiring.Component) -> dict[wiring.Flow, int]:
    """The bits of the inputs, and those of the outputs."""
    bits = {wiring.In: 0, wiring.Out: 0}
    for _, flow, signal in port_signals(component):
        bits[flow] += len(signal)
    return bits
