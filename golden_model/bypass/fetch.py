"""`OperandFetcher`: the requests of a bypassing collector (docs/contract/operands.md, *Requests of windows*)."""

from collections.abc import Sequence

from warploom.golden_model.bypass.entries import Entry, Held, Request
from warploom.golden_model.named import named


class OperandFetcher:
    """Requests the wanted lanes of one entry at a time, and hands over the operand that a grant brings.

    The entry is the first one with wanted lanes, in the order of instructions and slots. With a window delay it is a
    register, which takes the next entry at the end of a cycle; `begins` says that it will, since it is empty. Banks are
    read in the cycle of the grant or, if they only select then, in a later one; `comes`: an operand arrives in this
    cycle.
    """

    def __init__(self, *, delays: bool, selects: bool) -> None:
        self.begins = self.comes = False
        self._delays, self._selects = delays, selects
        self._requested: Entry | None = None
        self._following: Entry | None = None  # with a delay, the entry of the next request
        self._arriving: Entry | None = None

    # ------------------------------------------------------------------ wires

    def settle(self, held: Sequence[Held]) -> None:
        """Entries have changed, or the instructions that are held: find the request."""
        if self._delays:
            self._following = _first_wanted(held, self._requested)
            self.begins = self._requested is None and self._following is not None
        else:
            self._requested = _first_wanted(held)

    def request(self) -> Request | None:
        """The request to the register file."""
        entry = self._requested
        if entry is None:
            return None
        return named(Request, (entry.index, entry.address, entry.stored, entry.wanted))

    # ------------------------------------------------------------------ the end of a cycle

    def ask(self, *, granted: bool) -> bool:
        """The request is granted, or with a delay the register takes the next one. Returns whether it changes. Call
        after `arrives`."""
        if granted:
            self._grant()
        takes = self._requested is None and self._following is not None
        if takes:
            self._requested = self._following
        return granted or takes

    def _grant(self) -> None:
        entry = self._requested
        assert entry is not None and self._arriving is None, "a grant without a request, or no word after a grant"
        entry.arriving, entry.wanted = entry.wanted, 0
        self._arriving, self._requested = entry, None
        if not self._selects:
            self.read()

    def read(self) -> None:
        """The bank reads what was granted; the operand arrives in the next cycle."""
        self.comes = True

    def arrives(self) -> Entry:
        """The entry whose lanes were read in the previous cycle: they arrive."""
        entry, self._arriving, self.comes = self._arriving, None, False
        assert entry is not None, "a word without a grant"
        return entry


def _first_wanted(held: Sequence[Held], requested: Entry | None = None) -> Entry | None:
    """The first entry with wanted lanes that is not the one `requested`."""
    for instruction in held:
        for entry in instruction.entries:
            if entry.wanted and entry is not requested:
                return entry
    return None
