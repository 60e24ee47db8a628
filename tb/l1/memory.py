"""A memory for benches of banks: random waits, and lines that it refuses to read or to write."""

import random
from collections.abc import Collection
from dataclasses import dataclass

from warploom.arch.l1 import LINE_BITS
from warploom.tb.bench import Stimulus


@dataclass
class Refused:
    """Addresses of lines that are not read, and of those that are not written."""

    reads: Collection[int] = ()
    writes: Collection[int] = ()


@dataclass
class Outside:
    """The memory at one memory port. `image` has the lines by address."""

    rng: random.Random
    image: dict[int, int]
    refused: Refused
    beat_bits: int = 64
    patience: float = 0.5
    """The chance that it acts in a cycle."""
    _reads: int | None = None  # the line whose beats it sends, the number of those sent, and the one in error
    _sent: int = 0
    _bad: int | None = None
    _writes: int | None = None

    def step(self, offer: tuple[bool, int, int] | None) -> Stimulus:
        """The inputs of a cycle in which the bank offers to write or read a line: its address and contents."""
        if self.rng.random() >= self.patience:
            return {}
        if self._reads is not None:
            return self._beat(self._reads)
        if self._writes is not None:
            error, self._writes = self._writes in self.refused.writes, None
            return {"memory__written__valid": 1, "memory__written__error": int(error)}
        if offer is None:
            return {}
        write, address, line = offer
        if write:
            self._writes = address
            if address not in self.refused.writes:
                self.image[address] = line
        else:
            self._reads, self._sent = address, 0
            beats = LINE_BITS // self.beat_bits
            self._bad = self.rng.randrange(beats) if address in self.refused.reads else None
        return {"memory__offer__ready": 1}

    def _beat(self, address: int) -> Stimulus:
        data = self.image[address] >> self._sent * self.beat_bits & (1 << self.beat_bits) - 1
        error, self._sent = self._sent == self._bad, self._sent + 1
        last = self._sent * self.beat_bits == LINE_BITS
        if last:
            self._reads = None
        return {"memory__beat__valid": 1, "memory__beat__data": data, "memory__beat__error": int(error),
                "memory__beat__last": int(last)}
