"""Estimates of the dynamic energy that bypassing saves in the register file, and of its overhead.

*Events* are words of a warp register, 128 B each. Two accounts of them:

- by Table IV of [BOW]: a bank access has the energy of the table, 28 nm; the overhead is each word written to or read
  from a bypassing collector, and each word that crosses the added network (results to collectors, evictions to banks);
  or each access to the register file cache. As in [BOW] the baseline's collectors are free.
- `ours`: SRAM, wires and collectors by the rules of `energy.py`, including the baseline's collectors. A result that
  goes to a collector crosses the register file once more; the wires of the register file cache are not counted.

**Rescaling.** Table IV's bank has 64 KB, those of section II have 8 KB. Energy is proportional to the square root of
the capacity (length of word and bit lines), as in `warploom.synth.sram`. The two arrays of Table IV, both 128 B wide,
differ by more: by a power of 1.12 of their capacities (`BETWEEN`), which makes an 8 KB bank cost less than a third.
Banks of the register file cache follow the rule of the other banks. Collectors of other sizes than Table IV's follow
the square root.
"""

import math
from dataclasses import dataclass

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.mechanisms import Bypass
from warploom.evaluation.energy import FIGURES, SLICE_BITS, Costs
from warploom.evaluation.figures import Compare, Run
from warploom.evaluation.metrics import saved, share
from warploom.synth.sram import FIGURES as SRAM
from warploom.synth.sram import NODE_NM, VOLTAGE, Macro

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


@dataclass(frozen=True)
class Events:
    """Words in one run: accesses of the register file and of its cache; written to and read from collectors; over the
    network that bypassing adds."""

    file: int
    cache: int
    stored: int
    taken: int
    network: int


def events(run: Run) -> Events:
    """The events of a run without coalescing or gating."""
    counts, bypassed = run.statistics, run.statistics.counted["bypassed"]
    file = sum(counts.bank_reads) + sum(counts.bank_writes)
    if not run.config.bypass.has_window:
        cache = 0
        if run.config.bypass is Bypass.RFC:  # the access that overwrote an evicted word also read it
            cache = bypassed["cache_reads"] + bypassed["cache_writes"]
        return Events(file, cache, counts.operands_stored, counts.operands_stored, 0)
    delivered = bypassed["delivered"] + bypassed["both"]
    evicted = bypassed["slid"] + bypassed["crowded"]
    operands = bypassed["forwarded"] + bypassed["fetched"]
    return Events(file, 0, bypassed["fetched"] + delivered, operands + evicted, delivered + evicted)


def collector_pj(config: SmConfig) -> float:
    """A word written to or read from a bypassing collector, 28 nm."""
    return float(COLLECTOR["energy_pj"] * math.sqrt(config.entries * WORD_BYTES / COLLECTOR["bytes"]))


def cache_rows(config: SmConfig) -> float:
    """Warp registers of a bank of the register file cache."""
    return config.entries * config.warps / config.banks


# ------------------------------------------------------------------ ours


def ours(run: Run, baseline: Run) -> float:
    """Energy saved, percent of the baseline's, by the project's costs."""
    return saved(register_file_pj(run), register_file_pj(baseline))


def register_file_pj(run: Run) -> float:
    """Dynamic energy of register file, cache and collectors, pJ at 45 nm and 1.1 V."""
    found, costs, config = events(run), Costs(run.config), run.config
    file = found.file * SUB_BANKS * (costs.sub_bank + costs.wires)
    if not config.bypass.has_window:
        cache = found.cache * SUB_BANKS * Macro(math.ceil(cache_rows(config)), SLICE_BITS).energy_pj
        return file + cache + (found.stored + found.taken) * SUB_BANKS * costs.collector_slice
    collectors = (found.stored + found.taken) * _scaled(collector_pj(config))
    return file + collectors + (found.network - _evicted(run)) * SUB_BANKS * costs.wires


def _evicted(run: Run) -> int:
    """Evictions: their way to the banks counts with the access."""
    return int(run.statistics.counted["bypassed"]["slid"] + run.statistics.counted["bypassed"]["crowded"])


def _scaled(picojoules: float) -> float:
    """From the node and supply of Table IV to ours."""
    return float(picojoules * NODE_NM / COLLECTOR["node_nm"] * (VOLTAGE / COLLECTOR["voltage"]) ** 2)


BY_TABLE_IV = {
    "64 KB banks": Account(65536), "8 KB banks": Account(8192), "8 KB banks at the least": Account(8192, BETWEEN),
}

ACCOUNTS: dict[str, Compare] = {**{key: account.saved for key, account in BY_TABLE_IV.items()}, "our costs": ours}
"""All estimates of the savings."""

OVERHEADS: dict[str, Compare] = {key: account.overhead for key, account in BY_TABLE_IV.items()}
"""The overhead in each of them."""
