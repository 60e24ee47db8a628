"""MASCAR, with which locality is compared ([HAWS], sections 3.5 and 6.4.2): in the golden model only."""

from enum import StrEnum

from warploom.arch.mechanisms.descriptor import Conflict, Events, Mechanism, ModelOnly, Switch


class Saturation(StrEnum):
    """What schedulers do while memory is saturated."""

    OFF = "off"  # nothing
    MASCAR = "mascar"  # a comparator: one warp's memory instructions go first, and loads that must wait let others pass


KIND = (Saturation.MASCAR,)

MASCAR = Mechanism(
    name="mascar",
    switches=(
        Switch("saturation", Saturation.OFF, "memory", "what is done while memory is saturated", "[HAWS]"),
    ),
    conflicts=(
        Conflict("saturation", KIND, "affine", ("a", "ab", "abm"),
                 "an attempt asks no scheduler for memory; use affine = off"),
        Conflict("saturation", KIND, "issue_per_warp", (2,),
                 "the second of a pair does not ask who may access memory; use issue_per_warp = 1"),
    ),
    model_only=(ModelOnly("saturation", KIND, "a comparator", "off"),),
    model_runs=("saturation=mascar",),
    events=(
        Events("saturation", "memory.saturation.counts",
               {"saturated": "cycles in which memory is saturated", "owners": "warps that became owners",
                "queued": "loads in the re-execution queue"}),
    ),
    names=("MASCAR", "OneOwner", "Reexecution", "SaturationCounts"),
    folders=("mascar",),
)
