"""Activity counters of columns and lanes (docs/contract/counting.md, *Activity*)."""

from collections import deque
from functools import lru_cache

from warploom.arch.config import LANES
from warploom.golden_model.integer import LAST_INTEGER
from warploom.golden_model.records import DispatchFields

STAGES = 3
"""Lane stages; there is a bypass beside all but the last."""

UNGATED = (LANES, LANES, 0)
"""Lanes that load for an instruction without gating: the first stages, the last one, the bypasses."""

_LOW_SEVEN = 0x7F7F7F7F
"""All bits except the highest one of each byte."""


class ColumnMeter:
    """Counts the columns that reads and writes enable, and their sub-banks."""

    def __init__(self) -> None:
        self.column_reads = self.column_writes = 0
        self.sub_bank_reads = self.sub_bank_writes = 0

    @property
    def counts(self) -> dict[str, int]:
        """The counts, by the names of `interfaces.ACTIVITY_FIELDS`."""
        return {"column_reads": self.column_reads, "column_writes": self.column_writes,
                "sub_bank_reads": self.sub_bank_reads, "sub_bank_writes": self.sub_bank_writes}

    def read(self, columns: int) -> None:
        """A granted read, with its 32-bit mask of columns."""
        self.column_reads += columns.bit_count()
        self.sub_bank_reads += _sub_banks(columns)

    def write(self, columns: int) -> None:
        """A granted write."""
        self.column_writes += columns.bit_count()
        self.sub_bank_writes += _sub_banks(columns)


@lru_cache(maxsize=1 << 16)
def _sub_banks(columns: int) -> int:
    """The number of sub-banks (eight columns each) with a column in the mask."""
    return ((columns & _LOW_SEVEN) + _LOW_SEVEN & ~_LOW_SEVEN | columns & ~_LOW_SEVEN).bit_count()


class LaneMeter:
    """Counts the activity of lanes for the instructions that leave the collectors.

    `operations`, `inactive` and `trivial` are sums over the instructions of SP and SFU. Loads of registers are counted
    when their instruction is dispatched, but `loads` shows only those that have happened.
    """

    def __init__(self, sp_pipes: int = 1, sfu_pipes: int = 1, stages: int = STAGES) -> None:
        self._counted = sp_pipes + sfu_pipes  # the pipes of SP and SFU are the first ones
        self._stages, self._before = stages, stages - STAGES  # of a lane, and those that only hold operands
        self.operations = self.inactive = self.trivial = 0
        self._computing = self._executing = self._passing = 0  # lanes of the integer instructions
        self._recent: deque[tuple[int, tuple[int, int, int]]] = deque(maxlen=stages * sp_pipes)  # pending loads

    def dispatch(self, cycle: int, fields: DispatchFields, loads: tuple[int, int, int], trivial: int) -> None:
        """An instruction is dispatched in this cycle, with this number of trivial lanes. For an integer one, `loads`
        are the numbers of lanes that will load their first stages, their last stage, and the bypasses."""
        if fields["pipe"] < self._counted:
            self.operations += LANES
            self.inactive += LANES - fields["lanes"].bit_count()
            if trivial:
                self.trivial += trivial
        if fields["op"] <= LAST_INTEGER:
            computing, executing, passing = loads
            self._computing += computing
            self._executing += executing
            if passing:
                self._passing += passing
            self._recent.append((cycle, loads))

    def loads(self, cycle: int) -> tuple[int, int]:
        """Lane stages and bypasses that loaded before this cycle. Stage k loads at the end of the k-th cycle after the
        dispatch, and so does the bypass beside it. The last stage loads in all lanes that execute, and so does a stage
        in front that holds operands."""
        lanes = (STAGES - 1) * self._computing + (1 + self._before) * self._executing
        bypasses = (STAGES - 1) * self._passing
        for dispatched, (computing, executing, passing) in self._recent:
            for stage in range(max(1, cycle - dispatched), self._stages + 1):
                computes = self._before < stage < self._stages
                lanes -= computing if computes else executing
                bypasses -= passing if computes else 0
        return lanes, bypasses
