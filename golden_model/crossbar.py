"""`Crossbar`: routes the words of the banks to the collectors that were granted them one cycle before."""

from collections.abc import Sequence


class Crossbar:
    """Combinational: `banks` inputs and `collectors` outputs of 1024 bits."""

    def __init__(self, banks: int, collectors: int) -> None:
        self.banks, self.collectors = banks, collectors

    def route(self, words: Sequence[int | None], grants: Sequence[int | None]) -> list[int | None]:
        """The word that each collector receives, `None` for none; `grants` holds each bank's collector or `None`."""
        routed: list[int | None] = [None] * self.collectors
        for bank, collector in enumerate(grants):
            if collector is not None:
                routed[collector] = words[bank]
        return routed
