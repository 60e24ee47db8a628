"""`SlowCoalescingArbiter`: rows of two access times, with coalescing (docs/contract/renaming.md, *Slow rows*;
[TFET])."""

from collections.abc import Callable, Sequence

from warploom.arch.interfaces import SIDES
from warploom.arch.pipes import WritePaths
from warploom.golden_model.coalescing.arbiter import NOTHING_HELD, CoalescingArbiter, Decision, Held, Read, Write
from warploom.golden_model.traffic import SlowCounts


class SlowCoalescingArbiter:
    """Opens an access of a slow row in one cycle, and grants it in the next one; all else the given arbiter decides. A
    requester keeps its request until it is granted.

    `writes_slowly` tells of a writer, and `reads_slowly` of a read, whether the request of this cycle is for a slow
    row.
    """

    def __init__(
        self, arbiter: CoalescingArbiter, writes_slowly: Callable[[int], bool], reads_slowly: Callable[[Read], bool],
    ) -> None:
        self._arbiter = arbiter
        self._writes_slowly, self._reads_slowly = writes_slowly, reads_slowly
        self._open = self._opening = NOTHING_HELD  # of the cycle before, and of this one
        self.slow = SlowCounts()
        self.observed = (*arbiter.observed, "open")

    @property
    def diagonal(self) -> int:
        """The diagonal that has priority."""
        return self._arbiter.diagonal

    @property
    def order(self) -> WritePaths:
        """The write paths in the order of this cycle."""
        return self._arbiter.order

    def decide(self, writes: Sequence[Write | None], reads: Sequence[Read]) -> Decision:
        """Decide about this cycle's requests, as `CoalescingArbiter.decide`. What is opened is neither granted nor a
        conflict."""
        held = self._open
        asked = [None if writer in held.writes else write for writer, write in enumerate(writes)]
        served = self._arbiter.decide(asked, [read for read in reads if read not in held.reads], held)
        opened = self._opening = Held(
            {writer: write for writer, write in enumerate(asked)
             if write is not None and served.writes[writer] and self._writes_slowly(writer)},
            [read for read in served.reads if self._reads_slowly(read)])
        return Decision(
            tuple(writer in held.writes or (new and writer not in opened.writes)
                  for writer, new in enumerate(served.writes)),
            (*held.reads, *(read for read in served.reads if read not in opened.reads)),
            served.bank_conflicts, served.port_conflicts, bool(opened.writes))

    def advance(self, cycles: int = 1) -> None:
        """The end of a cycle, or of several cycles without requests: the priority moves on."""
        self._arbiter.advance(cycles)
        self.slow.reads += len(self._opening.reads)
        self.slow.writes += len(self._opening.writes)
        self._open, self._opening = self._opening, NOTHING_HELD

    def observe(self) -> Sequence[int]:
        """The diagonal, the write path with priority, and the sides of banks that are open."""
        opened = [*self._open.writes.values(), *self._open.reads]
        return (*self._arbiter.observe(), sum(1 << len(SIDES) * bank + side for bank, side, *_ in opened))
