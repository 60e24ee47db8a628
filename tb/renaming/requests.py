"""Requests to an arbiter of banks with slow rows or two ports, which stay until they are granted."""

from collections.abc import Callable, Sequence
from itertools import product
from random import Random
from typing import Any, NamedTuple, Protocol

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import SIDES
from warploom.golden_model.byte_order import sub_bank_mask
from warploom.golden_model.slow_arbiter import SlowArbiter
from warploom.tb.bench import Stimulus
from warploom.tb.codec import join

Cell = tuple[int, int, int]
"""Bank, side and collector of a read."""

Granted = tuple[list[int], list[Cell]]
"""Writers and reads."""


class Request(NamedTuple):
    """A request for a bank. Without sides the side is 0, and the width 4 bytes."""

    bank: int
    side: int
    width: int
    slow: bool

    @property
    def mask(self) -> int:
        """Its sub-banks."""
        return sub_bank_mask(self.width, self.side == 1)


class Model(Protocol):
    """A golden arbiter of `Requests`. `arbiter` has observed values, and a method for the end of a cycle."""

    arbiter: Any

    def decide(self, requests: "Requests") -> Granted:
        """What is granted in this cycle."""


class SingleModel:
    """Of banks that are requested as a whole."""

    def __init__(self, requests: "Requests") -> None:
        self.arbiter = SlowArbiter(requests.config, requests.writes_slowly,
                                   lambda bank, collector: requests.reads[bank, 0, collector].slow)

    def decide(self, requests: "Requests") -> Granted:
        """See `Model`."""
        masks = [sum(1 << c for bank, _, c in requests.reads if bank == b) for b in range(requests.config.banks)]
        decision = self.arbiter.decide([None if write is None else write.bank for write in requests.writes], masks)
        return ([writer for writer, granted in enumerate(decision.writes) if granted],
                [(bank, 0, collector) for bank, collector in decision.reads])


class Requests:
    """The requests of each writer and of each collector, and the golden arbiter that sees them."""

    def __init__(self, config: SmConfig, model: Callable[["Requests"], Model]) -> None:
        self.config = config
        self.sides = len(SIDES) if config.has_sides else 1
        self.cells: list[Cell] = list(product(range(config.banks), range(self.sides), range(config.collectors)))
        self.writes: list[Request | None] = [None] * len(config.pipes)
        self.reads: dict[Cell, Request] = {}
        self.model = model(self)

    def writes_slowly(self, writer: int) -> bool:
        """Whether the request of a writer is for a slow row."""
        request = self.writes[writer]
        assert request is not None
        return request.slow

    def decide(self) -> Granted:
        """What the model grants in this cycle."""
        return self.model.decide(self)

    def random(self, rng: Random, bank: int, side: int, widths: Sequence[Sequence[int]], slow: float) -> Request:
        """A request for a bank, which is slow with some probability; widths to choose from, for each side."""
        width = rng.choice(widths[side]) if self.config.has_sides else SUB_BANKS
        return Request(bank, side, width, rng.random() < slow)

    def stimulus(self, rng: Random) -> Stimulus:
        """The arbiter's inputs; what is unspecified is random."""
        config, idle = self.config, Request(0, 0, rng.randint(1, SUB_BANKS), bool(rng.getrandbits(1)))
        writes, reads = [write or idle for write in self.writes], [self.reads.get(cell, idle) for cell in self.cells]
        inputs = {
            "write_request": sum((write is not None) << i for i, write in enumerate(self.writes)),
            "write_bank": join([write.bank for write in writes], index_bits(config.banks)),
            "read_request": join([cell in self.reads for cell in self.cells], 1),
        }
        if config.tfet_rows:
            inputs |= {"write_slow": join([write.slow for write in writes], 1),
                       "read_slow": join([read.slow for read in reads], 1)}
        if config.has_sides:
            inputs |= {"write_mask": join([write.mask for write in writes], SUB_BANKS),
                       "read_mask": join([read.mask for read in reads], SUB_BANKS),
                       "write_left": join([write.side for write in writes], 1)}
        return inputs

    def leave(self, writers: list[int], reads: list[Cell]) -> None:
        """The end of a cycle: granted requests leave."""
        for writer in writers:
            self.writes[writer] = None
        for cell in reads:
            del self.reads[cell]
        self.model.arbiter.advance()
