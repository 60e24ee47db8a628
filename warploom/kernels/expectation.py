"""The expected contents of a buffer after the kernel has run, and their tolerance."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Expectation:
    """Expected contents of the buffer `name`.

    With both tolerances 0 every bit must agree, those of NaNs and signed zeros too. Otherwise an element may differ
    by `absolute` + `relative` * |expected|, and NaN stands for any NaN.
    """

    name: str
    array: np.ndarray
    absolute: float = 0.0
    relative: float = 0.0

    @property
    def exact(self) -> bool:
        """True when every bit must agree."""
        return not (self.absolute or self.relative)

    def mismatch(self, actual: np.ndarray) -> str | None:
        """None if `actual` is as expected, else one line: the number of different elements, and the first of them."""
        wrong = self._differs(actual.reshape(self.array.shape))
        count = int(wrong.sum())
        if not count:
            return None
        index = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        place = ", ".join(str(int(i)) for i in index)
        rule = "bit-exact" if self.exact else f"within {self.absolute:g} + {self.relative:g} * |expected|"
        return (f"{self.name}: {count} of {wrong.size} elements differ ({rule}); the first is {self.name}[{place}] = "
                f"{actual.reshape(wrong.shape)[index]!s}, expected {self.array[index]!s}")

    def _differs(self, actual: np.ndarray) -> np.ndarray:
        if self.exact:
            bits = f"u{self.array.itemsize}"
            return np.ascontiguousarray(actual).view(bits) != np.ascontiguousarray(self.array).view(bits)
        ours, expected = actual.astype(np.float64), self.array.astype(np.float64)  # short floats would round the bound
        with np.errstate(over="ignore"):  # a tolerance without bound
            return ~np.isclose(ours, expected, rtol=self.relative, atol=self.absolute, equal_nan=True)
