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
        self.where: list[tuple[int, int]] = [(0, 0)] * len(WRITERS)  # bank and row of each latch's destination
        self.full = 0  # latches that hold something
        self._wanted: list[int | None] = [None] * len(WRITERS)
        self._config = config
        self._places = Placement(config, 0)

    def requests(self) -> list[int | None]:
        """The bank that each latch requests, `None` for none."""
        return self._wanted

    def done(self, grants: Sequence[bool]) -> list[Result | None]:
        """The results that complete in this cycle, by writer."""
        return [
            latch if granted or wanted is None else None
            for latch, wanted, granted in zip(self.latches, self._wanted, grants, strict=True)
        ]

    def ready(self, grants: Sequence[bool]) -> list[bool]:
        """Whether each latch takes a result in this cycle: it is empty or completes."""
        return [granted or wanted is None for wanted, granted in zip(self._wanted, grants, strict=True)]

    def step(self, results: Sequence[Result | None], grants: Sequence[bool], stride: int) -> None:
        """The end of a cycle: completed latches empty, results enter."""
        if stride != self._places.stride:
            self._places = Placement(self._config, stride)
        for writer, result in enumerate(results):
            if self.latches[writer] is not None and (grants[writer] or self._wanted[writer] is None):
                self.latches[writer] = self._wanted[writer] = None
                self.full -= 1
            if result is not None:
                assert self.latches[writer] is None, f"{WRITERS[writer]} result while its latch is full"
                self.latches[writer] = result
                self.where[writer] = where = self._places[result["warp"] << 8 | result["dst"]]
                self._wanted[writer] = where[0] if result["writes"] else None
                self.full += 1
