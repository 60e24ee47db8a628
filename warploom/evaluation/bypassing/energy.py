"""What bypassing, or the register file cache, adds to the energy of the register file.

- *windows*: the word that is read for an operand or an eviction is selected from all entries; an instruction passes the
  search for its entries; results are selected from the write paths and cross the register file once more on their way
  to collectors, as whole words in any stored form (docs/contract/stored_forms.md); evictions are selected from all
  collectors, loaded by their unit, and pass it. What entries load counts with the other registers;
- *cache*: its banks are SRAM, organised like those of the register file. Each access costs what it does there: the
  SRAM, the crossbar or a write path, and the wires, which carry whole words.
"""

import math
from collections.abc import Iterator

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import WARP_BITS
from warploom.arch.mechanisms import Alignment, Coalescing, Gating
from warploom.evaluation.bypassing.events import cache_rows, events
from warploom.evaluation.energy.assumptions import FIGURES
from warploom.evaluation.energy.costs import SLICE_BITS, Costs, Spent
from warploom.evaluation.figures import Run


def spent(run: Run, costs: Costs) -> Iterator[Spent]:
    """What windows or the cache add."""
    config, found = run.config, events(run)
    whole = costs.of_form(run, coalescing=Coalescing.OFF, alignment=Alignment.REG, gating=Gating.OFF)
    path = costs.selection(len(config.write_paths))
    if not config.bypass.has_window:
        sram = SUB_BANKS * costs.sram(math.ceil(cache_rows(config)), SLICE_BITS)
        read, write = (sram + WARP_BITS * (whole.wire + way) for way in (costs.selection(config.banks), path))
        yield Spent("cache", "a word is read", found.cache_reads, read)
        yield Spent("cache", "a word is written", found.cache_writes, write)
        return
    passed = FIGURES["logic"]["windows"]
    loaded = costs.selection(config.collectors) + whole.flip_flop
    yield Spent("window network", "an operand or an evicted word leaves its entry", found.taken,
                WARP_BITS * costs.selection(config.entries))
    yield Spent("window network", "a result is delivered", found.network - found.evicted,
                WARP_BITS * (whole.wire + path))
    yield Spent("window network", "an evicted word enters its unit", found.evicted, WARP_BITS * loaded)
    yield Spent("window logic", "an instruction finds its entries", run.statistics.datapath_instructions,
                costs.logic(passed["instruction"]))
    yield Spent("window logic", "an eviction", found.evicted, costs.logic(passed["eviction"]))
