"""Estimated cost of an SRAM macro. No open generator is suitable: these are published figures, rescaled.

`sram.toml` has the sources. The rules:

- *area*: bits x cell area / array efficiency, all at 45 nm;
- *area by CACTI*: the 64 KB bank, in proportion to bits, times the square of the ratio of feature sizes;
- *energy of an access*: that bank's, in proportion to the bits of the access and to the square root of the capacity
  (length of word and bit lines), times the ratio of feature sizes (capacitance) and of squared voltages;
- *leakage*: that bank's, in proportion to bits; not rescaled to the node;
- *access time*: the straight line over the square root of the capacity that fits published macros of 45 nm best; ports
  beyond the first do not change it.
"""

import math
import statistics
import tomllib
from dataclasses import dataclass
from pathlib import Path

NODE_NM = 45
VOLTAGE = 1.1
"""Node and supply of the bundled logic library, to which energies and areas are rescaled."""

FIGURES = tomllib.loads(Path(__file__).with_name("sram.toml").read_text())
"""The published figures, with `source` and `node_nm` on each."""

SETUP_PS: float = FIGURES["timing"]["setup_ps"]
"""Setup time of every input of a macro."""

PIN_FF: float = FIGURES["timing"]["pin_ff"]
"""Capacitance of every input of a macro."""

_ACCESS = statistics.linear_regression(
    [math.sqrt(words * width) for words, width in zip(FIGURES["timing"]["words"], FIGURES["timing"]["width"],
                                                      strict=True)],
    FIGURES["timing"]["access_ps"])
"""The line through the published access times, over the square roots of capacities."""


@dataclass(frozen=True)
class Macro:
    """A memory of `words` entries of `width` bits, one entry an access."""

    words: int
    width: int

    @property
    def bits(self) -> int:
        """Capacity."""
        return self.words * self.width

    @property
    def area_um2(self) -> float:
        """Area from the bit cell, µm² at 45 nm."""
        return self.bits * FIGURES["bit_cell"]["area_um2"] / FIGURES["array_efficiency"]["value"]

    @property
    def cacti_area_um2(self) -> float:
        """Area from the CACTI bank, µm² rescaled to 45 nm."""
        bank = FIGURES["bank"]
        return bank["area_um2"] * self.bits / (8 * bank["bytes"]) * (NODE_NM / bank["node_nm"]) ** 2

    @property
    def energy_pj(self) -> float:
        """Energy of one access, pJ rescaled to 45 nm and 1.1 V."""
        bank = FIGURES["bank"]
        size = self.width / (8 * bank["access_bytes"]) * math.sqrt(self.bits / (8 * bank["bytes"]))
        return bank["energy_pj"] * size * NODE_NM / bank["node_nm"] * (VOLTAGE / bank["voltage"]) ** 2

    @property
    def leakage_mw(self) -> float:
        """Leakage, mW at the bank's node."""
        return FIGURES["bank"]["leakage_mw"] * self.bits / (8 * FIGURES["bank"]["bytes"])

    @property
    def access_ps(self) -> float:
        """From clock to data, ps at 45 nm and 1.1 V."""
        return _ACCESS.intercept + _ACCESS.slope * math.sqrt(self.bits)
