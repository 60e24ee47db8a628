"""The dynamic energy that bypassing saves in the register file by Table IV of [BOW], as the paper counts it.

*Events* are words of a warp register (`events.py`). A bank access has the energy of the table, 28 nm; the
overhead is each word written to or read from a bypassing collector, and each word that crosses the added network
(results to collectors, evictions to banks); or each access to the register file cache. The baseline's collectors are
free. The account by our own rules is in `register_file_energy.py`.

**Rescaling.** Table IV's bank has 64 KB, those of section II have 8 KB. Energy is proportional to the square root of
the capacity (length of word and bit lines), as in `warploom.synth.sram`. The two arrays of Table IV, both 128 B wide,
differ by more: by a power of 1.12 of their capacities (`BETWEEN`), which makes an 8 KB bank cost less than a third.
Banks of the register file cache follow the rule of the other banks. Collectors of other sizes than Table IV's follow
the square root.
"""

import math
from dataclasses import dataclass

from warploom.arch.config import LANES, SmConfig
from warploom.evaluation.bypassing.events import cache_rows, events
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.figures import Compare, Run
from warploom.evaluation.metrics import saved, share
from warploom.evaluation.register_file_energy import register_file_saved
from warploom.synth.sram import FIGURES as SRAM

WORD_BYTES = LANES * 4

COLLECTOR, BANK, NETWORK = FIGURES["collector"], SRAM["bank"], FIGURES["network"]

ROOT = 0.5
BETWEEN = math.log(BANK["energy_pj"] / COLLECTOR["energy_pj"]) / math.log(BANK["bytes"] / COLLECTOR["bytes"])
"""Powers of the capacity for the energy of an access; the second is that between Table IV's arrays."""


@dataclass(frozen=True)
class Account:
    """Table IV with banks of this number of bytes, rescaled with a power of the capacity."""

    bank_bytes: int
    power: float = ROOT

    @property
    def bank_pj(self) -> float:
        """An access to a bank of the register file, 28 nm."""
        return self.array_pj(self.bank_bytes)

    def array_pj(self, capacity: float) -> float:
        """An access to a bank of another capacity, in bytes."""
        return float(BANK["energy_pj"] * (capacity / BANK["bytes"]) ** self.power)

    def overhead_pj(self, run: Run) -> float:
        """The energy that bypassing, or the register file cache, adds in a run."""
        found = events(run)
        if run.config.bypass.has_window:
            stored = (found.stored + found.taken) * collector_pj(run.config)
            return stored + found.network * float(NETWORK["words_pj"])
        return found.cache * self.array_pj(cache_rows(run.config) * WORD_BYTES)

    def saved(self, ours: Run, baseline: Run) -> float:
        """Energy saved minus overhead, percent of the baseline's."""
        return saved(events(ours).file * self.bank_pj + self.overhead_pj(ours), events(baseline).file * self.bank_pj)

    def overhead(self, ours: Run, baseline: Run) -> float:
        """The overhead, percent of the energy of the baseline's register file."""
        return share(self.overhead_pj(ours), events(baseline).file * self.bank_pj)


def collector_pj(config: SmConfig) -> float:
    """A word written to or read from a bypassing collector, 28 nm."""
    return float(COLLECTOR["energy_pj"] * math.sqrt(config.entries * WORD_BYTES / COLLECTOR["bytes"]))


BY_TABLE_IV = {
    "64 KB banks": Account(65536), "8 KB banks": Account(8192), "8 KB banks at the least": Account(8192, BETWEEN),
}

ACCOUNTS: dict[str, Compare] = {**{key: account.saved for key, account in BY_TABLE_IV.items()},
                                "our costs": register_file_saved}
"""All estimates of the savings."""

OVERHEADS: dict[str, Compare] = {key: account.overhead for key, account in BY_TABLE_IV.items()}
"""The overhead in each of them."""
