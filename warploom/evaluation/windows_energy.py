"""What bypassing, or the register file cache, adds to the energy of the register file.

- *windows*: the word that is read for an operand or an eviction is selected from all entries; an instruction passes the
  search for its entries; results cross the register file once more on their way to collectors, as whole words in any
  stored form (docs/contract/stored_forms.md); evictions pass their unit. What entries load counts with the other
  registers;
- *cache*: each access to its banks, SRAM; the wires to it are not counted.
"""

import math
from dataclasses import replace

from warploom.arch.config import SUB_BANKS
from warploom.arch.mechanisms import Alignment, Coalescing, Gating
from warploom.evaluation.assumptions import FIGURES
from warploom.evaluation.bypassing_events import cache_rows, events
from warploom.evaluation.energy import SLICE_BITS, WORD_BITS, Costs
from warploom.evaluation.figures import Run


def added(run: Run, costs: Costs) -> dict[str, float]:
    """The energy by part, pJ."""
    config, found = run.config, events(run)
    if not config.bypass.has_window:
        return {"cache": found.cache * SUB_BANKS * costs.sram(math.ceil(cache_rows(config)), SLICE_BITS)}
    passed, delivered = FIGURES["logic"]["windows"], found.network - found.evicted
    plain = replace(config, coalescing=Coalescing.OFF, alignment=Alignment.REG, gating=Gating.OFF)
    wire = Costs.of(replace(run, machine=plain), costs.assumed).wire
    return {
        "window network": WORD_BITS * (found.taken * costs.selection(config.entries) + delivered * wire),
        "window logic": costs.logic(run.statistics.datapath_instructions * passed["instruction"]
                                    + found.evicted * passed["eviction"]),
    }
