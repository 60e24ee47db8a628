"""The machine without any mechanism: its settings, units, regression and planted bugs."""

from enum import StrEnum

from warploom.arch.mechanisms.descriptor import (
    BANK,
    BANK_ARBITER,
    CONFIG,
    MATRIX,
    PROBE,
    Core,
    Mechanism,
    ModelOnly,
    Needs,
    Points,
    Runs,
    Switch,
    Unit,
)


class Scheduler(StrEnum):
    """The policy by which a warp scheduler chooses among ready warps."""

    LRR = "lrr"  # loose round robin
    GTO = "gto"  # greedy, then oldest
    TWO_LEVEL = "two_level"  # a small active set, refilled when a member waits on memory
    LOCALITY = "locality"  # two-level by groups of warps that the launch's hint makes
    CTA_AWARE = "cta_aware"  # a comparator: two-level by groups of blocks
    TRWS = "trws"  # warps that have time for slow rows first; among equals greedy, then oldest


class Layout(StrEnum):
    """Register-to-bank mapping ([RADAIDEH], Fig. 3.10); the formulas are in `warploom.arch.layout`."""

    WID = "wid"  # all registers of a warp in one bank
    WSHIFT = "wshift"  # registers of a warp interleaved across the banks


FAST = ("arrival_delay=0", "turnaround=0")
"""Collectors that lose no cycle."""

TWO_SP = ("schedulers=2", "pipes.sp.result_queue=2", "pipes.sp.copy=sp2", "sp2.write_path=1", "mem.write_path=2")
"""Two SP pipes, the second one with a separate write path."""

PATH_EACH = (*TWO_SP, "sfu.write_path=2", "mem.write_path=3")
"""A write path for each pipe."""

HALF_LANES = ("sp.lanes=16", "sp2.lanes=16")

SP_APART = ("sp2.dispatch_port=1", "sfu.dispatch_port=1", "mem.dispatch_port=1")
"""A dispatch port for the first pipe, and one for all others."""

PORT_EACH = ("sp2.dispatch_port=1", "sfu.dispatch_port=2", "mem.dispatch_port=3")
"""A dispatch port for each pipe."""

SHARED = ("schedulers=2", "pipes.sp.result_queue=4", "pipes.sp.copy=sp2", "pipes.sp2.copy=spa", "sp2.write_path=1",
          "spa.write_path=2", "mem.write_path=3", "sp2.dispatch_port=1", "spa.dispatch_port=2", "sfu.dispatch_port=3",
          "mem.dispatch_port=4", "spa.sharing=fair", "sfu.sharing=even", "mem.sharing=static")
"""A pipe of SP for each of two schedulers, one that they share, and SFU and MEM, shared by other policies."""

ONE_SCHEDULER = ("sp.sharing=fair", "sfu.sharing=even", "mem.sharing=static", "sfu.dispatch_port=1",
                 "mem.dispatch_port=2")
"""Pipes of every kind of sharing, with a dispatch port each."""

PAIRS = ("schedulers=2", "issue_ports=2", "issue_per_warp=2", "collectors=5")
"""Two instructions of a warp in a cycle over each of two issue ports; often a collector is missing."""

SETS_BY_PIPE = ("collectors=5", "sfu_collectors=1", "mem_collectors=2")
"""Two general collectors, one of SFU and two of MEM."""

SEVERAL_PORTS = ("issue_ports", (2, 4))

SLOT_COLLECTORS: Needs = (("bypass", ("off",)),)

BASELINE = Mechanism(
    name="baseline",
    switches=(
        Switch("scheduler", Scheduler.TWO_LEVEL, "front_end", "how a scheduler picks among its warps",
               "[RADAIDEH], Table 3.5"),
        Switch("layout", Layout.WSHIFT, "register_file", "which bank a register lies in", "[RADAIDEH], Fig. 3.10"),
    ),
    units=(
        Unit("SubBank", "warploom.rtl.subbank.SubBank", BANK),
        Unit("Bank", "warploom.rtl.bank.Bank", BANK),
        Unit("Arbiter", "warploom.rtl.arbiter.Arbiter", BANK_ARBITER),
        Unit("Crossbar", "warploom.rtl.crossbar.Crossbar", MATRIX),
        Unit("Collector", "warploom.rtl.operands.collector.Collector", CONFIG, probe=PROBE,
             needs=SLOT_COLLECTORS),
        Unit("Lane", "warploom.rtl.lane.Lane"),
        Unit("IntegerUnit", "warploom.rtl.integer.IntegerUnit", CONFIG, probe=PROBE),
        Unit("CollectorClaims", "warploom.rtl.operands.claims.CollectorClaims",
             {"collectors": "collectors", "ports": "issue_inputs"}),
        Unit("AgeMatrix", "warploom.rtl.ages.AgeMatrix", {"holders": "holders"}),
        Unit("Dispatcher", "warploom.rtl.dispatch.Dispatcher", CONFIG),
        Unit("ResultQueue", "warploom.rtl.register_file.result_queue.ResultQueue", CONFIG, {"depth": 2}),
        Unit("Writeback", "warploom.rtl.register_file.writeback.Writeback", CONFIG),
        Unit("Datapath", "warploom.rtl.datapath.Datapath", CONFIG, probe=PROBE),
        Unit("OperandStore", "warploom.rtl.operands.store.OperandStore", CONFIG, probe=PROBE),
        Unit("Banks", "warploom.rtl.register_file.banks.Banks", CONFIG, probe=PROBE),
        Unit("RegisterFile", "warploom.rtl.register_file.register_file.RegisterFile", CONFIG, probe=PROBE),
        Unit("Placer", "warploom.rtl.placement.Placer", CONFIG),
        Unit("GroupPicker", "warploom.rtl.front_end.group_picker.GroupPicker", {"slots": "scheduler_warps"}),
        Unit("BlockScheduler", "warploom.rtl.front_end.block_scheduler.BlockScheduler", fixed={"sms": 14}),
    ),
    model_only=(ModelOnly("scheduler", (Scheduler.LOCALITY,), "a picker of the front end", "lrr"),
                ModelOnly("scheduler", (Scheduler.CTA_AWARE,), "a comparator", "lrr"),
                ModelOnly("scheduler", (Scheduler.TRWS,), "a picker of the front end", "gto")),
    parts=(
        "warploom.rtl.operands.store.OperandStore", "warploom.rtl.operands.slots.SlotCollectors",
        "warploom.rtl.operands.stage.DispatchStage",
        "warploom.rtl.register_file.register_file.RegisterFile", "warploom.rtl.register_file.banks.Banks",
        "warploom.rtl.register_file.metadata.MetadataTable", "warploom.rtl.pipes.Pipes",
    ),
    cores=(
        Core("baseline"),
        Core("two sp pipes", (*TWO_SP, *PORT_EACH, *FAST), is_long=True),
        Core("collector sets", ("schedulers=2", "issue_ports=2", *SETS_BY_PIPE), is_long=True),
        Core("pairs", (*PAIRS, *FAST, "sfu_collectors=1", "mem_collectors=2"), is_long=True),
        Core("pairs two sp pipes affine", (*PAIRS, *TWO_SP, *PORT_EACH, *FAST, "schedulers=4", "sfu_collectors=1",
                                          "mem_collectors=2", "affine=abm", "gating=cross_lane",
                                          "read_arbiter=separable")),
        Core("pairs affine", (*PAIRS, "schedulers=4", "affine=abm", "gating=cross_lane"), is_long=True),
        Core("two sp pipes reordered", (*PATH_EACH, *SP_APART, *HALF_LANES, *FAST, "coalescing=on",
                                       "gating=cross_lane"), is_long=True),
        Core("shared pipes of one scheduler", ONE_SCHEDULER, is_long=True),
        Core("two sp pipes windows", (*TWO_SP, *PORT_EACH, "bypass=bow", "affine=abm"), is_long=True),
    ),
    coverage=(
        Points(("SP dispatch", "SFU dispatch", "MEM dispatch", "sfu stalls", "mem stalls")),
        Points(("instructions on all issue ports",), (SEVERAL_PORTS,)),
        Points(("two instructions of one warp in a cycle", "second of a pair refused for want of a collector"),
               (("issue_per_warp", (2,)),)),
        Points(("more instructions than free collectors",), (SEVERAL_PORTS, *SLOT_COLLECTORS)),
        Points(("a set without a free collector, others with one",), (("mem_collectors", (1, 2)),)),
    ),
    runs=(
        Runs(axes=(("layout", tuple(Layout)), ("scheduler", (Scheduler.LRR, Scheduler.GTO, Scheduler.TWO_LEVEL)))),
        Runs("small", (*TWO_SP, *PORT_EACH, *FAST)),
        Runs("small", (*PATH_EACH, *PORT_EACH, *HALF_LANES, *FAST, "coalescing=on", "alignment=write",
                       "gating=cross_lane")),
        Runs("small", (*TWO_SP, *SP_APART, "bypass=bow_hints", "coalescing=on", "layout=wid")),
        Runs("small", (*TWO_SP, *PORT_EACH, *HALF_LANES, *FAST, "affine=abm", "gating=in_lane", "scheduler=gto")),
        Runs("small", (*PATH_EACH, *SP_APART, "bypass=bow_wr", "affine=abm", "gating=active")),
        Runs("small", ("schedulers=4", "issue_ports=4", "collectors=6")),
        Runs("small", (*TWO_SP, *PORT_EACH, *FAST, "issue_ports=2", *SETS_BY_PIPE)),
        Runs("gtx480"),
        Runs("small", (*TWO_SP, *PORT_EACH, "issue_ports=2", "collectors=4", "coalescing=on", "alignment=write",
                       "gating=cross_lane")),
        Runs("small", ("schedulers=4", "issue_ports=4", "layout=wid", "affine=abm", "coalescing=on", "gating=in_lane")),
        Runs("small", ("schedulers=2", "issue_ports=2", "bypass=bow_wr", "coalescing=on", "alignment=write")),
        Runs("small", (*TWO_SP, *SP_APART, "schedulers=4", "issue_ports=4", "bypass=bow_hints", "affine=ab",
                       "gating=in_lane")),
        Runs("small", (*PAIRS, "schedulers=1", "issue_ports=1", "scheduler=gto")),
        Runs("small", (*PAIRS, *TWO_SP, *PORT_EACH, *FAST, "coalescing=on", "gating=cross_lane")),
        Runs("small", (*PAIRS, "schedulers=4", "issue_ports=4", "layout=wid", "coalescing=on", "alignment=write",
                       "gating=in_lane", *SETS_BY_PIPE)),
        Runs("small", (*PAIRS, "affine=abm", "gating=cross_lane", "front_end_interval=2")),
    ),
    full_size=((),),
    varied=("layout", "scheduler"),
    bugs=("warploom.tb.mutants.MUTANTS", "warploom.tb.part_mutants.MUTANTS", "warploom.tb.front_end.mutants.MUTANTS"),
)
