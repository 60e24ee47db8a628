"""The probe port, and the observed values of the golden model (docs/contract/counting.md, *Observation*)."""

from collections.abc import Sequence
from itertools import compress, count
from operator import lshift, rshift

from warploom.tb.codec import Codec


class Probe:
    """The port `probe` of a unit, and the names in its golden model, in the order of the model's values.

    Raises `AssertionError` if only one of the two shows a name.
    """

    def __init__(self, codec: Codec, names: Sequence[str]) -> None:
        hardware, shown = codec.spans, set(names)
        only_model = [name for name in names if name not in hardware]
        only_hardware = [name for name in hardware if name not in shown]
        assert not only_model, f"only the golden model shows {', '.join(only_model)}"
        assert not only_hardware, f"only the hardware shows {', '.join(only_hardware)}"
        self.names = tuple(names)
        self.spans = [hardware[name] for name in names]
        self._offsets, self._widths = ([span[k] for span in self.spans] for k in range(2))

    def pack(self, values: Sequence[int]) -> int:
        """The integer on the port for these values. Raises `AssertionError` if one does not fit."""
        assert len(values) == len(self.names), f"{len(values)} values for {len(self.names)} names"
        for number in compress(count(), map(rshift, values, self._widths)):
            raise AssertionError(f"{self.names[number]} = {values[number]} does not fit {self._widths[number]} bits")
        return sum(map(lshift, values, self._offsets))

    def unpack(self, word: int) -> dict[str, int]:
        """The values on the port, by name."""
        return {name: word >> offset & (1 << width) - 1
                for name, (offset, width) in zip(self.names, self.spans, strict=True)}
