"""`Barriers`: the warps that wait at the barriers of a block (docs/contract/front_end.md)."""

from warploom.arch.config import LANES


class Barriers:
    """The numbered barriers of one block; warps are named by their slots."""

    def __init__(self) -> None:
        self._arrived: dict[int, list[tuple[int, int, bool]]] = {}  # by number: (slot, threads expected, it waits)

    def arrive(self, slot: int, number: int, threads: int, *, waits: bool = True) -> None:
        """A warp arrives at a barrier of `threads` threads (0: all that have not exited)."""
        self._arrived.setdefault(number, []).append((slot, threads, waits))

    def opened(self, running: int) -> list[int]:
        """The warps that wait at a barrier that is complete, when the warps `running` still have instructions to issue.
        Empties it."""
        free: list[int] = []
        for number, arrived in list(self._arrived.items()):
            threads = max(threads for _, threads, _ in arrived)
            if len(arrived) >= (-(-threads // LANES) or running):
                free += (slot for slot, _, waits in arrived if waits)
                del self._arrived[number]
        return free
