# amaranth: UnusedElaboratable=no
"""The reads of collectors, at ports of banks that select them first."""

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import chain, product
from operator import or_
from typing import Any

from amaranth import Cat, Module, Mux, Value

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES
from warploom.rtl.observation import Shown
from warploom.rtl.pipelined.read_port import ReadPort
from warploom.rtl.register_file.reads import fields_of, ranges
from warploom.rtl.select import binary
from warploom.rtl.shared import share


class SelectedReads:
    """A `ReadPort` for each access of each bank. Members are those of `warploom.rtl.register_file.reads.Reads`."""

    readers = 1

    def __init__(self, config: SmConfig, arbiter: Any) -> None:
        self._config, self._arbiter = config, arbiter
        banks, accesses = ranges(config)
        self._ports = [[ReadPort(config=config) for _ in accesses] for _ in banks]
        self.granted: list[list[Value]] = [[port.granted for port in of_bank] for of_bank in self._ports]
        self.connections = Cat(self._slices() if config.has_sides else chain.from_iterable(self.granted))

    def _slices(self) -> Iterator[Value]:
        """For each slice, and in it for each bank, the collectors to which it is granted."""
        for number, of_bank in product(range(SUB_BANKS), self._ports):
            yield reduce(or_, (Mux(port.read["mask"][number], port.granted, 0) for port in of_bank))

    def connect(self, m: Module, platform: object, read: Sequence[Any]) -> None:
        """Connect the requests of all collectors; what they are told is the selection, and what arrives."""
        for b, side in product(*ranges(self._config)):
            port = self._ports[b][side]
            m.submodules[f"read_port_{b}_{side}"] = share(platform, "read_port", port)
            m.d.comb += [self._arbiter.valid[b][side].eq(port.valid), port.grant.eq(self._arbiter.grant[b][side])]
            if self._config.has_sides:
                m.d.comb += self._arbiter.mask[b][side].eq(port.read["mask"])
            for c, asked in enumerate(read):
                m.d.comb += [
                    port.request[c].eq(asked.request[b][side]),
                    port.reads[c].eq(fields_of(self._config, asked, b, side)),
                    asked.grant[b][side].eq(port.selected[c]),
                ]
        granted = reduce(or_, chain.from_iterable(self.granted))
        m.d.sync += [asked.arrives.eq(granted[c]) for c, asked in enumerate(read)]

    def choose(self, m: Module, unit: Any, read: Sequence[Any], b: int, side: int) -> None:
        """Connect the choice of an access (`AccessSelect`), which has one read."""
        m.d.comb += [unit.grant.eq(self._arbiter.grant[b][side]), unit.reads[0].eq(self._ports[b][side].read)]

    def observe(self) -> Shown:
        """For each port whether its register holds a read, and of which collector."""
        shown: Shown = {}
        for b, side in product(*ranges(self._config)):
            port, name = self._ports[b][side], f"select{b}_{SIDES[side]}" if self._config.has_sides else f"select{b}"
            shown |= {f"{name}_valid": port.valid, f"{name}_who": Mux(port.valid, binary(port.who), 0)}
        return shown
