"""The affine unit: operations on values that are equal or linear in the lanes execute once for a warp ([AFFINE])."""

from enum import StrEnum

from warploom.arch.mechanisms.bypassing import WINDOWS, Bypass
from warploom.arch.mechanisms.descriptor import (
    CONFIG,
    Conflict,
    Core,
    Events,
    Mechanism,
    Needs,
    Overhead,
    Points,
    PortField,
    Runs,
    Switch,
    Unit,
)


class Affine(StrEnum):
    """The operations that execute once for a warp, on values base + lane * stride ([AFFINE], section 4)."""

    OFF = "off"  # each lane separately
    A = "a"  # arithmetic, and uniform loads of constants
    AB = "ab"  # also comparisons, for branches
    ABM = "abm"  # also addresses of loads, without a collector

    @property
    def is_on(self) -> bool:
        """Whether there is an affine register file."""
        return self is not Affine.OFF

    @property
    def has_branches(self) -> bool:
        """Whether comparisons are resolved from the first and the last lane."""
        return self in (Affine.AB, Affine.ABM)

    @property
    def has_memory(self) -> bool:
        """Whether loads with a compact address skip operand collection and coalescer."""
        return self is Affine.ABM


KINDS = (Affine.A, Affine.AB, Affine.ABM)
ON: Needs = (("affine", KINDS),)
ADDRESS_SLOT: Needs = (("affine", (Affine.ABM,)), ("bypass", (Bypass.OFF,)))

AFFINE = Mechanism(
    name="affine",
    strongest="affine=abm",
    switches=(Switch("affine", Affine.OFF, "affine", "what executes once for a warp", "[AFFINE]"),),
    conflicts=(
        Conflict("affine", KINDS, "schedulers", (3,),
                 "the affine registers are divided among the schedulers; use a power of two"),
    ),
    fields=(PortField("issue", "compact", bits=3, needs=ON),),
    units=(
        Unit("Expander", "warploom.rtl.operands.expand.Expander"),
        Unit("AffineRegisterFile", "warploom.rtl.affine.register_file.AffineRegisterFile", CONFIG, needs=ON),
        Unit("AffineUnit", "warploom.rtl.affine.unit.AffineUnit", CONFIG, needs=ON),
        Unit("CompactSlots", "warploom.rtl.operands.compact_slots.CompactSlots", {"depth": "waiting_instructions"},
             needs=ON),
        Unit("AddressSlot", "warploom.rtl.operands.address_slot.AddressSlot", CONFIG, needs=ADDRESS_SLOT),
        Unit("AffineRegisters", "warploom.rtl.fg_simt.affine.AffineRegisters", {"affine": "affine"},
             probe={"probe": True}, needs=ON, alone=True),
        Unit("Followed", "warploom.rtl.fg_simt.followed.Followed", fixed={"number_bits": 5, "value": 49, "copies": 4},
             needs=ON, alone=True),
        Unit("LoadRules", "warploom.rtl.fg_simt.load_rules.LoadRules", needs=ON, alone=True),
    ),
    parts=("warploom.rtl.affine.sets.AffineSets",),
    cores=(
        Core("abm", ("affine=abm", "schedulers=2"), is_long=True),
        Core("abm cross_lane write",
             ("affine=abm", "schedulers=4", "gating=cross_lane", "coalescing=on", "alignment=write"), is_long=True),
        Core("abm bow_hints cross_lane reg", ("affine=abm", "schedulers=2", "bypass=bow_hints", "entries=6",
                                              "gating=cross_lane", "coalescing=on", "alignment=reg")),
    ),
    coverage=(
        Points(("accepted", "refused", "squashed", "uniform unit", "attempts of all sets", "uniform operand",
                "affine operand"), ON),
        Points(("an address slot is taken",), ADDRESS_SLOT),
    ),
    runs=(
        Runs("small", axes=(("affine", KINDS),)),
        Runs("narrow", ("affine=abm",)),  # two schedulers, and so two sets
        Runs("small", ("affine=abm", "coalescing=on")),
        Runs("small", ("affine=abm", "gating=cross_lane")),
        Runs("small", ("affine=abm",), (("bypass", WINDOWS),)),
        Runs("small", ("affine=abm", "coalescing=on", "gating=cross_lane", "bypass=bow_hints")),
    ),
    varied=("affine",),
    words=("no affine unit", "affine {config.affine}"),
    is_on=ON,
    bugs=("warploom.tb.affine.mutants.MUTANTS", "warploom.tb.fg_simt.affine_mutants.MUTANTS"),
    lockstep_bugs=("warploom.tb.affine.datapath_mutants.IN_LOCKSTEP",),
    events=(
        Events("affine", "decisions.counts", {"accepted": "instructions executed once for the warp",
                                           "expansions": "registers expanded"}),
    ),
    overheads=(
        Overhead("hardware", "Affine registers", "affine_registers",
                 "warploom.evaluation.hardware.overhead.affine_overheads"),
    ),
    names=("affine", "Affine"),
    folders=("affine",),
)
