"""`AxiMaster`: the memory ports of several banks on one bus (docs/contract/l1.md, *Bus*)."""

from collections.abc import Sequence
from typing import NamedTuple

from warploom.arch.l1 import BEAT_BITS, LANES, LINE_BITS, masters
from warploom.golden_model.l1.bank import Beat, Offer
from warploom.golden_model.l1.crossbar import RoundRobin
from warploom.golden_model.l1.data_cache import Answer


class Slave(NamedTuple):
    """What the other side of the bus does in a cycle: the channels that it is ready for; ID and beat; ID, and whether
    the line was written without an error."""

    ar: bool = False
    aw: bool = False
    w: bool = False
    beat: tuple[int, Beat] | None = None
    written: tuple[int, bool] | None = None


class AxiMaster:
    """One transaction for each of some banks. `reads` and `writes` are ID and address on AR and AW, `data` the beat on
    W and whether it is the last one; None without valid."""

    def __init__(self, beat_bits: int = BEAT_BITS, banks: int = masters(LANES)) -> None:
        self.reads: tuple[int, int] | None = None
        self.writes: tuple[int, int] | None = None
        self._beat: int | None = None  # of the line that is written
        self._writer = 0
        self._bits = beat_bits
        self._readers, self._writers = RoundRobin(banks), RoundRobin(banks)

    def data(self, offers: Sequence[Offer | None]) -> tuple[int, bool] | None:
        """The beat on W."""
        if self._beat is None:
            return None
        offer = offers[self._writer]
        assert offer is not None
        beat = offer.line >> self._bits * self._beat & (1 << self._bits) - 1
        return beat, self._beat == LINE_BITS // self._bits - 1

    def clock(self, offers: Sequence[Offer | None], slave: Slave) -> list[Answer]:
        """The end of a cycle with the offers of all banks. Returns what each bank gets in it."""
        accepted = {*self._read(offers, slave), *self._write(offers, slave)}
        return [Answer(number in accepted, slave.beat[1] if slave.beat and slave.beat[0] == number else None,
                       slave.written[1] if slave.written and slave.written[0] == number else None)
                for number in range(len(offers))]

    def _read(self, offers: Sequence[Offer | None], slave: Slave) -> list[int]:
        """The read that is accepted, if one is."""
        if self.reads is None:
            self.reads = self._choose(self._readers, offers, write=False)
        elif slave.ar:
            accepted, self.reads = self.reads[0], None
            return [accepted]
        return []

    def _write(self, offers: Sequence[Offer | None], slave: Slave) -> list[int]:
        """The write that is accepted, if one is."""
        if self.writes is None and self._beat is None:
            self.writes = self._choose(self._writers, offers, write=True)
            if self.writes is not None:
                self._writer, self._beat = self.writes[0], 0
            return []
        if slave.aw:
            self.writes = None
        if slave.w and self._beat is not None:
            self._beat = self._beat + 1 if (self._beat + 1) * self._bits < LINE_BITS else None
        return [self._writer] if self.writes is None and self._beat is None else []

    def _choose(self, turns: RoundRobin, offers: Sequence[Offer | None], *, write: bool) -> tuple[int, int] | None:
        asking = [number for number, offer in enumerate(offers) if offer is not None and offer.write is write]
        chosen = turns.choose(asking)
        if chosen is None:
            return None
        turns.serve(chosen)
        offer = offers[chosen]
        assert offer is not None
        return chosen, offer.address
