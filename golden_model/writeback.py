"""`Writeback`: the latches between the pipes and the banks (docs/timing.md, sections 1 and 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.placement import Placement
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WRITERS

Result = Mapping[str, Any]
"""The fields of a result port and `data`, the 1024-bit word."""


class Writeback:
    """One latch for each writer, in the order SP, SFU, MEM.

    A latch holds a result from the end of cycle w until it is granted. One that writes no register needs no bank and is
    done in the first cycle after w. Raises `AssertionError` when a result comes that the latch cannot take.
    """

    def __init__(self, config: SmConfig) -> None:
        self.latches: list[Result | None] = [None] * len(WRITERS)
        self.where: list[tuple[int, int]] = [(0, 0)] * len(WRITERS)
        self._config = config
        self._places = Placement(config, 0)

    def requests(self) -> list[int | None]:
        """The bank that each latch requests, `None` for none."""
        return [
            where[0] if latch is not None and latch["writes"] else None
            for latch, where in zip(self.latches, self.where, strict=True)
        ]

    def done(self, grants: Sequence[bool]) -> list[Result | None]:
        """The results that complete in this cycle, by writer."""
        return [
            latch if latch is not None and (granted or not latch["writes"]) else None
            for latch, granted in zip(self.latches, grants, strict=True)
        ]

    def ready(self, grants: Sequence[bool]) -> list[bool]:
        """Whether each latch takes a result in this cycle: it is empty or completes."""
        return [
            latch is None or granted or not latch["writes"] for latch, granted in zip(self.latches, grants, strict=True)
        ]

    def step(self, results: Sequence[Result | None], grants: Sequence[bool], stride: int) -> list[Result | None]:
        """The end of a cycle: completed latches empty, results enter. Returns what completed, by writer."""
        if stride != self._places.stride:
            self._places = Placement(self._config, stride)
        completed = self.done(grants)
        for writer, result in enumerate(results):
            if completed[writer] is not None:
                self.latches[writer] = None
            if result is not None:
                assert self.latches[writer] is None, f"{WRITERS[writer]} result while its latch is full"
                self.latches[writer] = result
                self.where[writer] = self._places[result["warp"] << 8 | result["dst"]]
        return completed
