"""`Duplicates`: MSHRs for lines that another SM has requested shortly before ([HAWS], Fig. 6.1)."""

WINDOW = 2000
"""Cycles."""


class Duplicates:
    """Counts MSHRs that are taken, and those for whose line another SM took one at most `WINDOW` cycles before."""

    def __init__(self) -> None:
        self.taken = self.duplicates = 0
        # By line: the SM that took an MSHR last and when, and when another one did last.
        self._last: dict[int, tuple[int, int, int]] = {}

    def allocated(self, sm: int, cycle: int, line: int) -> None:
        """An SM takes an MSHR."""
        self.taken += 1
        last_sm, last, before = self._last.get(line, (sm, -WINDOW - 1, -WINDOW - 1))
        other = before if last_sm == sm else last
        self.duplicates += cycle - other <= WINDOW
        self._last[line] = sm, cycle, other
