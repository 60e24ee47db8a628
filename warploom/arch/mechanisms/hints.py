"""Hints for order: a warp that waits for memory goes on with instructions that the compiler names ([HAWS], chapter 5).
In hardware there is its own unit alone; the front end around it is in the golden model."""

from enum import StrEnum

from warploom.arch.mechanisms.bypassing import Bypass
from warploom.arch.mechanisms.corf import KINDS as CORF_KINDS
from warploom.arch.mechanisms.descriptor import CONFIG, Conflict, Events, Mechanism, ModelOnly, Switch, Unit


class Hinting(StrEnum):
    """The order in which the instructions of a warp issue."""

    OFF = "off"  # that of the program
    ON = "on"  # a warp that waits for memory executes the hint group of its instruction
    SHORT_COPIES = "short_copies"  # the same, and copies of renamed results skip execution, as in the source
    PREEXECUTION = "preexecution"  # a comparator: it executes what its hardware finds


KIND = (Hinting.ON, Hinting.SHORT_COPIES)

HINTS = Mechanism(
    name="hints",
    switches=(
        Switch("hints", Hinting.OFF, "front_end", "what a warp does while it waits for memory", "[HAWS]"),
    ),
    conflicts=(
        Conflict("hints", KIND, "bypass", tuple(bypass for bypass in Bypass if bypass is not Bypass.OFF),
                 "windows and the register file cache keep the last registers in program order; use bypass = off"),
        Conflict("hints", KIND, "coalescing", CORF_KINDS,
                 "CORF packs registers at compile time, and no renamed one; use coalescing = off or on"),
        Conflict("hints", KIND, "affine", ("a", "ab", "abm"),
                 "a refused attempt squashes those after it, which hints may have executed; use affine = off"),
        Conflict("hints", KIND, "issue_per_warp", (2,),
                 "the second of a pair follows the first in the program; use issue_per_warp = 1"),
    ),
    model_only=(ModelOnly("hints", KIND, "an order of the front end", "off"),),
    units=(Unit("HintUnit", "warploom.rtl.hints.unit.HintUnit", CONFIG, probe={"probe": True}, alone=True),),
    model_runs=("hints=on",),
    bugs=("warploom.tb.hints.mutants.MUTANTS",),
    events=(
        Events("order", "front_end.order.counts",
               {"entered": "times in hint mode", "executed": "instructions issued in hint mode",
                "copies": "copies of renamed results", "looked": "instructions that hardware looked at"}),
    ),
    names=("Hinting", "HintOrder", "hinted", "hinted_for"),
    folders=("hints",),
)
