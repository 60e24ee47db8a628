# amaranth: UnusedElaboratable=no
"""Planted bugs between the affine units and the rest of the datapath, which kernels in lockstep must show."""

from typing import Any

from amaranth import Module, Signal, Value

from warploom.arch.mechanisms.baseline import PAIRS
from warploom.rtl.select import merge
from warploom.tb.mutants import LockstepMutant, miswired


def _unexpanded(stage: Any, m: Module) -> None:
    """A compact slot shows the constant of its collector."""
    m.d.sync += stage.compact.compact.eq(0)


def _unstrided(stage: Any, m: Module) -> None:
    """All lanes show the base."""
    m.d.comb += [expander.value.stride.eq(0) for expander in stage.expanders]


def _known(stage: Any, m: Module) -> None:
    """A compact slot counts as known to be zero, like its constant."""
    m.d.comb += [known.eq(path.known)
                 for known, path in zip(stage.trivial_detector.known, stage.operand_paths, strict=True)]


def _reading(sets: Any, m: Module) -> None:
    """Collectors read compact slots from the register file."""
    m.d.comb += sets.compact[0].slots.compact.eq(0)


def _hurried(sets: Any, m: Module) -> None:
    """Values are taken from the set of the next instruction."""
    odd, values = sets.issue[0].payload.warp[0], [Value.cast(unit.values) for unit in sets.units]
    m.d.comb += Value.cast(sets.compact[0].slots["values"]).eq(merge([~odd, odd], values))


def _remembering(sets: Any, m: Module) -> None:
    """A register that an instruction writes in the datapath stays compact."""
    m.d.comb += [unit.lookup.payload.writes.eq(0) for unit in sets.units]


def _deceived(sets: Any, m: Module) -> None:
    """The first of a pair gets values of the second's registers."""
    m.d.comb += [unit.register_file.first_valid.eq(0) for unit in sets.units]


def _trusting(sets: Any, m: Module) -> None:
    """Every attempt is accepted."""
    m.d.comb += sets.outcome_0.payload.accepted.eq(1)


def _late(sets: Any, m: Module) -> None:
    """Outcomes come a cycle later."""
    valid = Signal(name="late_valid")
    m.d.sync += valid.eq(sets.units[0].outcome.valid)
    m.d.comb += sets.outcome_0.valid.eq(valid)


def _crowded(operands: Any, m: Module) -> None:
    """The address slot is always ready."""
    m.d.comb += operands.address_ready.eq(1)


STAGE, SETS = "operands.stages.0", "affine_sets"
SETTINGS = ("affine=abm", "schedulers=2")
OPERAND = "dispatch_[abc], lane"

IN_LOCKSTEP = (
    LockstepMutant("does not expand", "reduction", OPERAND, miswired(STAGE, _unexpanded), SETTINGS),
    LockstepMutant("expands without the stride", "reduction", f"{OPERAND} [1-9]",
                   miswired(STAGE, _unstrided), SETTINGS),
    LockstepMutant("reads compact registers", "reduction", r"bank\d_enable", miswired(SETS, _reading), SETTINGS),
    LockstepMutant("takes values from the wrong set", "reduction", OPERAND, miswired(SETS, _hurried), SETTINGS),
    LockstepMutant("leaves a written register compact", "reduction", r"bank\d_enable",
                   miswired(SETS, _remembering), SETTINGS),
    LockstepMutant("takes values of the second of a pair for the first", "reduction", OPERAND,
                   miswired(SETS, _deceived), ("affine=abm", *PAIRS)),
    LockstepMutant("accepts every attempt", "reduction", "outcome_0_accepted", miswired(SETS, _trusting), SETTINGS),
    LockstepMutant("is late with outcomes", "reduction", "outcome_0_valid", miswired(SETS, _late), SETTINGS),
    LockstepMutant("takes loads into a full address slot", "reduction", "address_ready",
                   miswired("operands", _crowded), SETTINGS),
    LockstepMutant("takes compact slots for zero", "reduction", "dispatch_trivial",
                   miswired(STAGE, _known), (*SETTINGS, "gating=cross_lane")),
)
