"""`SharedLoads`: a small cache of words that all threads read, filled by the first warp."""

from warploom.arch.fg_simt.sizes import SHARED_LOADS


class SharedLoads:
    """Words by address, one for each place."""

    observed = ("shared_loads",)

    def __init__(self) -> None:
        self._words: dict[int, tuple[int, int]] = {}  # by place: address and word

    def find(self, address: int) -> int | None:
        """The word at an address (a multiple of 4), None if it is not here."""
        held = self._words.get(address // 4 % SHARED_LOADS)
        return held[1] if held is not None and held[0] == address else None

    def fill(self, address: int, word: int) -> None:
        """The word that memory has at an address."""
        self._words[address // 4 % SHARED_LOADS] = address, word

    def invalidate(self) -> None:
        """The kernel is over."""
        self._words.clear()

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        return [len(self._words)]
