"""Registers that are renamed into rows of two kinds, CMOS and TFET ([TFET])."""

from enum import StrEnum

from warploom.arch.mechanisms.baseline import ONE_SCHEDULER
from warploom.arch.mechanisms.bypassing import Bypass
from warploom.arch.mechanisms.coalescing import BOUNDS, Coalescing
from warploom.arch.mechanisms.corf import KINDS as CORF_KINDS
from warploom.arch.mechanisms.descriptor import (
    CONFIG,
    Conflict,
    Core,
    Events,
    Mechanism,
    Needs,
    PortField,
    Runs,
    Switch,
    Unit,
)


class Renaming(StrEnum):
    """Which row of its bank a new value gets."""

    OFF = "off"  # that of the register's number
    CMOS_FIRST = "cmos_first"  # a CMOS row if one is free
    MEM_RA = "mem_ra"  # a TFET row if the warp has time to lose before its next request to memory


ON = (Renaming.CMOS_FIRST, Renaming.MEM_RA)
RENAMES: Needs = (("renaming", ON),)
PREDICTS: Needs = (("renaming", (Renaming.MEM_RA,)),)
SLOW = tuple(range(1, 4097))
"""Numbers of TFET rows with which there are slow rows."""

REORDERED = ("on", "short_copies", "preexecution")
"""Hints with which instructions of a warp execute in another order."""

SLOW_ROWS = ("pipes.sp.result_queue=8", "tfet_rows=96")
"""Three quarters of the rows of `small`: a kernel with few registers uses both kinds."""

HYBRID = ("pipes.sp.result_queue=2", "tfet_rows=8", "renaming=mem_ra")
"""Few slow rows, and a stall predictor."""


def _conflicts(name: str, values: tuple[object, ...]) -> tuple[Conflict, ...]:
    """With what neither renaming nor slow rows go."""
    return (
        Conflict(name, values, "bypass", tuple(bypass for bypass in Bypass if bypass is not Bypass.OFF),
                 "an evicted value is written when its row may be another register's; use bypass = off"),
        Conflict(name, values, "coalescing", CORF_KINDS,
                 "CORF decides which row a result is packed into; use coalescing = off or on"),
        Conflict(name, values, "alignment", BOUNDS,
                 "a bound of coalescing has no banks that take two cycles; use alignment = reg or write"),
        Conflict(name, values, "affine", ("a", "ab", "abm"),
                 "a compact register has no row until it is expanded; use affine = off"),
        Conflict(name, values, "hints", REORDERED,
                 "they rename registers too, and read them in another order; use hints = off"),
        Conflict(name, values, "issue_ports", (2, 4),
                 "the lists of a bank give one row a cycle; use issue_ports = 1"),
        Conflict(name, values, "issue_per_warp", (2,),
                 "the lists of a bank give one row a cycle; use issue_per_warp = 1"),
    )


RENAMING = Mechanism(
    name="renaming",
    switches=(
        Switch("renaming", Renaming.OFF, "register_file", "which row of its bank a new value gets", "[TFET]"),
    ),
    conflicts=(
        *_conflicts("renaming", ON),
        *_conflicts("tfet_rows", SLOW),
        Conflict("bank_ports", (2,), "coalescing", tuple(kind for kind in Coalescing if kind is not Coalescing.OFF),
                 "a side of a bank is a port of its own; use bank_ports = 1"),
        Conflict("bank_ports", (2,), "bypass", (Bypass.RFC,),
                 "an eviction reads the row that a result overwrites; use bank_ports = 1"),
        Conflict("scheduler", ("trws",), "renaming", (Renaming.OFF, Renaming.CMOS_FIRST),
                 "it asks the stall predictor; use renaming = mem_ra"),
        Conflict("drowsy", tuple(range(1, 65)), "hints", REORDERED,
                 "a warp that waits for memory executes other instructions; use hints = off"),
    ),
    events=(
        Events("renaming", "datapath.renamings", {
            "values": "new values of registers", "requests": "requests for a TFET row", "served": "requests served",
            "stalls": "cycles without a free row"}),
        Events("predicted", "datapath.accuracy", {
            "compared": "predictions compared with the next access", "errors": "sum of errors, in thousandths"}),
        Events("slow", "datapath.slow", {"reads": "reads of TFET rows", "writes": "writes of TFET rows"}),
        Events("drowsy", "front_end.slept", {
            "wakes": "wake-ups of a warp's registers", "asleep": "cycles in which a warp's registers slept"}),
    ),
    units=(
        Unit("RenameStage", "warploom.rtl.renaming.stage.RenameStage", CONFIG, probe={"probe": True}, needs=RENAMES),
        Unit("RowTable", "warploom.rtl.renaming.table.RowTable", CONFIG, needs=RENAMES),
        Unit("Sweep", "warploom.rtl.renaming.sweep.Sweep", CONFIG, needs=RENAMES),
        Unit("BankLists", "warploom.rtl.renaming.lists.BankLists", CONFIG, needs=RENAMES),
        Unit("SlowArbiter", "warploom.rtl.register_file.access.arbiter_of", CONFIG, needs=(("tfet_rows", SLOW),)),
        Unit("StallPredictor", "warploom.rtl.renaming.predictor.StallPredictor", {"slots": "warps"}, needs=PREDICTS),
    ),
    fields=(PortField("issue", "last", 3, needs=RENAMES),),
    parts=("warploom.rtl.renaming.stage.RenameStage",),
    cores=(
        Core("slow rows", SLOW_ROWS, is_long=True),
        Core("slow rows two ports", (*SLOW_ROWS, "bank_ports=2", "gating=active"), is_long=True),
        Core("slow rows coalescing", (*SLOW_ROWS, "coalescing=on", "alignment=write", "gating=cross_lane"),
             is_long=True),
        Core("renaming", HYBRID, is_long=True),
        Core("renaming shared pipes write", (*ONE_SCHEDULER, *HYBRID, "coalescing=on", "alignment=write")),
        Core("renaming two ports", (*HYBRID, "bank_ports=2", "layout=wid", "gating=active"), is_long=True),
        Core("renaming collector sets", (*HYBRID, "collectors=3", "mem_collectors=1"), is_long=True),
        Core("renaming coalescing", (*HYBRID, "coalescing=on", "alignment=write", "gating=cross_lane"), is_long=True),
    ),
    runs=(
        Runs("small", (*SLOW_ROWS, "bank_ports=2", "gating=active")),
        Runs("small", HYBRID),
        Runs("small", (*HYBRID, "coalescing=on", "alignment=write", "gating=cross_lane")),
    ),
    words=("", "renaming {config.renaming}"),
    is_on=RENAMES,
    bugs=("warploom.tb.renaming.access_mutants.MUTANTS", "warploom.tb.renaming.mutants.MUTANTS",
          "warploom.tb.renaming.stage_mutants.MUTANTS"),
    names=("renaming", "Renaming", "RenameStage"),
    folders=("renaming",),
)
