# amaranth: UnusedElaboratable=no
"""Planted bugs between the affine units and the rest of the datapath, which kernels in lockstep must show."""

from collections.abc import Callable
from typing import Any

from amaranth import Module, Signal, Value
from amaranth.lib import wiring

from rtl import verilog
from rtl.gating.datapath import GatedDatapath
from rtl.select import merge
from tb.mutants import LockstepMutant
from warploom.arch.config import SmConfig

Fault = Callable[[Any, Module], None]
"""Wires a datapath anew, after it was wired correctly."""


def faulty(fault: Fault) -> Callable[[SmConfig], wiring.Component]:
    """Makes datapaths with a fault."""

    def make(config: SmConfig) -> wiring.Component:
        class Faulty(type(verilog.datapath(config))):  # type: ignore[misc]  # whatever the configuration asks for
            """The datapath, wired anew."""

            def _connect_affine(self, m: Module) -> None:
                super()._connect_affine(m)
                fault(self, m)

        return Faulty(config=config, probe=True)

    return make


def unexpanded(datapath: Any, m: Module) -> None:
    """A compact slot shows the constant that its collector has."""
    m.d.sync += datapath._sent_slots.compact.eq(0)


def unstrided(datapath: Any, m: Module) -> None:
    """All lanes show the base."""
    m.d.comb += [expander.value.stride.eq(0) for expander in datapath.expanders]


def reading(datapath: Any, m: Module) -> None:
    """Collectors read compact slots all the same."""
    m.d.comb += datapath._entering.reads.eq(datapath.issue.payload.reads)


def hurried(datapath: Any, m: Module) -> None:
    """Values are taken from the set of the instruction after."""
    odd, values = datapath.issue.payload.warp[0], [Value.cast(unit.values) for unit in datapath.affine_units]
    m.d.comb += Value.cast(datapath._looked_up["values"]).eq(merge([~odd, odd], values))


def remembering(datapath: Any, m: Module) -> None:
    """What an instruction writes in the datapath stays compact."""
    m.d.comb += [unit.lookup.payload.writes.eq(0) for unit in datapath.affine_units]


def trusting(datapath: Any, m: Module) -> None:
    """Every attempt is accepted."""
    m.d.comb += datapath.outcome_0.payload.accepted.eq(1)


def late(datapath: Any, m: Module) -> None:
    """Outcomes come a cycle later."""
    valid = Signal(name="late_valid")
    m.d.sync += valid.eq(datapath.affine_units[0].outcome.valid)
    m.d.comb += datapath.outcome_0.valid.eq(valid)


def crowded(datapath: Any, m: Module) -> None:
    """The address slot is always ready."""
    m.d.comb += datapath.address_ready.eq(1)


class Zeroed(GatedDatapath):
    """The constant in place of a compact slot is known to be zero."""

    def _known(self, slot: int, zero: Value) -> Value:
        return zero


SETTINGS = ("affine=abm", "schedulers=2")
OPERAND = r"dispatch_operand\d, lane"

IN_LOCKSTEP = (
    LockstepMutant("does not expand", "reduction", OPERAND, faulty(unexpanded), SETTINGS),
    LockstepMutant("expands without the stride", "reduction", f"{OPERAND} [1-9]", faulty(unstrided), SETTINGS),
    LockstepMutant("reads compact registers", "reduction", r"bank\d_enable", faulty(reading), SETTINGS),
    LockstepMutant("takes values from the wrong set", "reduction", OPERAND, faulty(hurried), SETTINGS),
    LockstepMutant("leaves a written register compact", "reduction", r"bank\d_enable", faulty(remembering), SETTINGS),
    LockstepMutant("accepts every attempt", "reduction", "outcome_0_accepted", faulty(trusting), SETTINGS),
    LockstepMutant("is late with outcomes", "reduction", "outcome_0_valid", faulty(late), SETTINGS),
    LockstepMutant("takes loads into a full address slot", "reduction", "address_ready", faulty(crowded), SETTINGS),
    LockstepMutant("takes compact slots for zero", "reduction", "dispatch_trivial",
                   lambda c: Zeroed(config=c, probe=True), (*SETTINGS, "gating=cross_lane")),
)
