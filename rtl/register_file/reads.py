"""The reads of collectors, at an arbiter that grants them in the cycle of their request."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from amaranth import Cat, Module, Value

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import read_fields
from warploom.rtl import ports


class Reads:
    """Connects collectors to the arbiter, to the crossbar, and to the choice of what an access of a bank is for.

    `granted` are, for each bank and access, the collectors whose read is granted; `connections` go to the crossbar.
    `readers` are the reads among which an access chooses.
    """

    def __init__(self, config: SmConfig, arbiter: Any) -> None:
        self._config, self._arbiter = config, arbiter
        self.readers = config.collectors
        self.granted = self._by_access(arbiter.read_grant)
        self.connections = arbiter.slice_grant if config.has_sides else arbiter.read_grant

    def _by_access(self, matrix: Any) -> list[list[Value]]:
        """A port of the arbiter for each bank and access."""
        return [[*row] if self._config.has_sides else [row] for row in matrix]

    def connect(self, m: Module, platform: object, read: Sequence[Any]) -> None:
        """Connect the requests of all collectors (`warploom.rtl.ports.read`), and their grants."""
        requests = self._by_access(self._arbiter.read_request)
        for (c, asked), b, side in product(enumerate(read), *ranges(self._config)):
            m.d.comb += [
                requests[b][side][c].eq(asked.request[b][side]), asked.grant[b][side].eq(self.granted[b][side][c]),
            ]
            if self._config.has_sides:
                m.d.comb += self._arbiter.read_mask[b][side][c].eq(asked.mask[b][side])

    def choose(self, m: Module, unit: Any, read: Sequence[Any], b: int, side: int) -> None:
        """Connect the choice of an access (`AccessSelect`)."""
        m.d.comb += unit.grant.eq(self.granted[b][side])
        m.d.comb += [chosen.eq(fields_of(self._config, asked, b, side))
                     for chosen, asked in zip(unit.reads, read, strict=True)]


def fields_of(config: SmConfig, read: Any, b: int, side: int) -> Value:
    """The fields (`read_fields`) of the read that a collector asks for at an access of a bank."""
    return Cat(getattr(read, name)[b][side] for name, _ in read_fields(config))


def ranges(config: SmConfig) -> tuple[range, range]:
    """Numbers of banks, and of the accesses of each."""
    return range(config.banks), range(ports.accesses(config))
