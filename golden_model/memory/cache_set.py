"""`CacheSet`: one set of a set-associative cache, which evicts its least recently used line."""


class CacheSet:
    """The lines of a set of `ways` lines, each clean or dirty."""

    def __init__(self, ways: int) -> None:
        self._ways = ways
        self._dirty: dict[int, bool] = {}  # by line, the least recently used first

    def __contains__(self, line: int) -> bool:
        return line in self._dirty

    def use(self, line: int, *, dirty: bool = False) -> None:
        """The line, which is there, is the most recently used one; a dirty one stays so."""
        self._dirty[line] = self._dirty.pop(line) or dirty

    def victim(self) -> tuple[int, bool] | None:
        """The line that the next one will evict, and whether it is dirty."""
        return next(iter(self._dirty.items())) if len(self._dirty) >= self._ways else None

    def enter(self, line: int, *, dirty: bool = False) -> None:
        """A line that is not there enters, in place of the victim if there is one."""
        if victim := self.victim():
            del self._dirty[victim[0]]
        self._dirty[line] = dirty
