"""`WarpSides`: the side of each warp's next full result, with `Alignment.WRITE` (docs/contract/stored_forms.md)."""


class WarpSides:
    """One bit for each warp slot; right after reset."""

    def __init__(self) -> None:
        self._left = 0

    def take(self, warp: int) -> bool:
        """The side (left = 1) of a full result that enters its latch. The warp's next one goes to the other side."""
        left = bool(self._left >> warp & 1)
        self._left ^= 1 << warp
        return left
