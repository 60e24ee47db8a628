"""`Barriers`: the warps that wait at the barriers of a block (docs/contract/front_end.md)."""

from warploom.arch.config import LANES


class Barriers:
    """The numbered barriers of one block; warps are named by their slots."""

    def __init__(self) -> None:
        self._waiting: dict[int, list[tuple[int, int]]] = {}  # by number: (slot that arrived, threads expected)

    def arrive(self, slot: int, number: int, threads: int) -> None:
        """A warp arrives at a barrier of `threads` threads (0: all that have not exited)."""
        self._waiting.setdefault(number, []).append((slot, threads))

    def opened(self, running: int) -> list[int]:
        """The warps whose barrier is complete, when the warps `running` still have instructions to issue. Empties
        it."""
        free: list[int] = []
        for number, arrived in list(self._waiting.items()):
            threads = max(threads for _, threads in arrived)
            if len(arrived) >= (-(-threads // LANES) or running):
                free += (slot for slot, _ in arrived)
                del self._waiting[number]
        return free
