"""The energy of an event: the one set of rules, for every mechanism (docs/energy.md).

Figures are in `energy.toml` and `synth/sram.toml`, for 45 nm and 1.1 V or rescaled to them:

- *SRAM*: an access costs what `warploom.synth.sram.Macro` says, a read and a write alike;
- *wire*: a bit that toggles charges, every second time, a wire as long as a square that holds banks and collectors is
  wide. The share of bits that toggle is counted in the trace (`toggling.py`);
- *flip-flop*: one that loads takes a clock cycle, and more if its bit toggles;
- *multiplexer*: a bit passes one with two inputs for each halving of the number of inputs. The others hold, since words
  are selected by one-hot masks;
- *table in flip-flops*, which is read by address: a look-up switches some share of all multiplexers of a read port;
- *logic*: what an event passes takes the energy of an adder of the same area.

Not included: scoreboard, schedulers and other logic that all designs share; pipeline registers and instruction fields;
the clock tree; and, unless it is assumed, the clock of flip-flops that load nothing.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple, Self

from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES, Assumptions
from warploom.evaluation.figures import Run
from warploom.synth.sram import FIGURES as SRAM
from warploom.synth.sram import VOLTAGE, Macro

SLICE_BITS = 256
"""Bits of a sub-bank's row."""

COLUMN_BITS = 32

SUB_BANK_COLUMNS = COLUMNS // SUB_BANKS
"""Columns of a sub-bank."""

OPERANDS = 3
"""Words that a collector without a window holds."""


@dataclass(frozen=True)
class Costs:
    """Energy of events in pJ, for one configuration in which this share of the moved bits toggles."""

    config: SmConfig
    toggling: float
    assumed: Assumptions = ASSUMED

    @classmethod
    def of(cls, run: Run, assumed: Assumptions = ASSUMED) -> Self:
        """The costs of the events of a run."""
        counted = run.toggling.share(run.config)
        return cls(run.config, counted + assumed.random_data * (0.5 - counted), assumed)

    def of_form(self, run: Run, **form: Any) -> Self:
        """The costs of the words of a run in another form: `form` are settings that it has instead."""
        return type(self).of(replace(run, machine=replace(self.config, **form)), self.assumed)

    def sram(self, words: int, width: int) -> float:
        """An access to a memory."""
        macro = Macro(words, width)
        smaller = macro.bits / (8 * SRAM["bank"]["bytes"])
        return macro.energy_pj * smaller ** (self.assumed.sram_power - 0.5)

    @cached_property
    def sub_bank(self) -> float:
        """An access to a sub-bank."""
        return self.sram(self.config.rows, SLICE_BITS)

    @cached_property
    def wire(self) -> float:
        """A bit between a bank and a collector, or between a result and a bank."""
        banks = self.config.banks * SUB_BANKS * Macro(self.config.rows, SLICE_BITS).area_um2
        collectors = self.assumed.collector_area * collector_words(self.config) * _word_um2(self.config)
        length = self.assumed.wire_length * math.sqrt(banks + collectors)
        farads = FIGURES["wire"]["capacitance_ff_per_um"] * 1e-15 * length
        return self.toggling * 0.5 * farads * VOLTAGE**2 * 1e12

    @cached_property
    def flip_flop(self) -> float:
        """A flip-flop that loads a bit."""
        known = FIGURES["flip_flop"]
        return self.assumed.flip_flop * (known["clock_fj"] + self.toggling * known["toggle_fj"]) / 1000

    @cached_property
    def clock(self) -> float:
        """A clock cycle of a flip-flop that loads nothing."""
        return float(self.assumed.ungated_clock * self.assumed.flip_flop * FIGURES["flip_flop"]["clock_fj"] / 1000)

    def logic(self, um2: float) -> float:
        """What passes logic of this area."""
        adder = FIGURES["adder"]
        per_um2 = adder["energy_pj"] / adder["area_um2"] * (VOLTAGE / adder["voltage"]) ** 2
        return float(self.assumed.logic * um2 * per_um2)

    def selection(self, inputs: int) -> float:
        """A bit that is selected from this number of inputs."""
        return self.logic(math.ceil(math.log2(inputs)) * FIGURES["multiplexer"]["area_um2"])

    @cached_property
    def operand_selection(self) -> float:
        """A bit of an operand, which its dispatch port selects from the holders of its instructions; mean over
        ports."""
        ports = range(len(self.config.dispatch_ports))
        return fmean(self.selection(len(self.config.holders_of(port))) for port in ports)

    def table_read(self, words: int, width: int) -> float:
        """A look-up in a table in flip-flops, which is read by address."""
        return self.assumed.tables * self.logic(words * width * FIGURES["multiplexer"]["area_um2"])


class Spent(NamedTuple):
    """What events of one kind take in a run: their part of the register file's energy, what they are, their number, and
    the energy of each in pJ."""

    part: str
    event: str
    number: float
    each: float

    @property
    def energy(self) -> float:
        """Of all of them, pJ."""
        return self.number * self.each


def by_part(spent: Iterable[Spent]) -> dict[str, float]:
    """The energy of each part, pJ."""
    found: dict[str, float] = {}
    for one in spent:
        found[one.part] = found.get(one.part, 0.0) + one.energy
    return found


def collector_words(config: SmConfig) -> int:
    """Warp registers that collectors can hold."""
    return config.collectors * (config.entries if config.bypass.has_window else OPERANDS)


def _word_um2(config: SmConfig) -> float:
    """The area of one of them."""
    return float(FIGURES["collector_word"]["window" if config.bypass.has_window else "slots"])
