"""What bypassing, or the register file cache, adds to the energy of the register file.

- *windows*: the word that is read for an operand or an eviction is selected from all entries; an instruction passes the
  search for its entries; results are selected from the write paths and cross the register file once more on their way
  to collectors, as whole words in any stored form (docs/contract/stored_forms.md); evictions are selected from all
  collectors, loaded by their unit, and pass it. What entries load counts with the other registers;
- *cache*: its banks are SRAM, organised like those of the register file. Each access costs what it does there: the
  SRAM, the crossbar or a write path, and the wires, which carry whole words.
"""

import math

from warploom.arch.config import SUB_BANKS
from warploom.arch.mechanisms import Alignment, Coalescing, Gating
from warploom.evaluation.assumptions import FIGURES
from warploom.evaluation.bypassing_events import cache_rows, events
from warploom.evaluation.energy import SLICE_BITS, WORD_BITS, Costs
from warploom.evaluation.figures import Run


def added(run: Run, costs: Costs) -> dict[str, float]:
    """The energy by part, pJ."""
    config, found = run.config, events(run)
    whole = costs.of_form(run, coalescing=Coalescing.OFF, alignment=Alignment.REG, gating=Gating.OFF)
    path = costs.selection(len(config.write_paths))
    if not config.bypass.has_window:
        words = found.cache * whole.wire + found.cache_reads * costs.selection(config.banks) + found.cache_writes * path
        sram = found.cache * SUB_BANKS * costs.sram(math.ceil(cache_rows(config)), SLICE_BITS)
        return {"cache": sram + WORD_BITS * words}
    passed, delivered = FIGURES["logic"]["windows"], found.network - found.evicted
    moved = (found.taken * costs.selection(config.entries) + delivered * (whole.wire + path)
             + found.evicted * (costs.selection(config.collectors) + whole.flip_flop))
    return {
        "window network": WORD_BITS * moved,
        "window logic": costs.logic(run.statistics.datapath_instructions * passed["instruction"]
                                    + found.evicted * passed["eviction"]),
    }
