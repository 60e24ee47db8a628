"""Reads in two cycles: for windows of many warps, whose requests a bank cannot match in one. None of the sources has
it."""

from warploom.arch.mechanisms.baseline import FAST
from warploom.arch.mechanisms.bypassing import NO_WINDOW, WindowDelay
from warploom.arch.mechanisms.descriptor import ARBITER, CONFIG, Conflict, Core, Mechanism, Needs, Runs, Unit
from warploom.arch.mechanisms.separable import ReadArbiter

KIND = (ReadArbiter.PIPELINED,)
ON: Needs = (("read_arbiter", KIND),)
SETTING = "read_arbiter=pipelined"

PIPELINED = Mechanism(
    name="pipelined",
    conflicts=tuple(
        Conflict("read_arbiter", KIND, name, values, f"{reason}; use {instead}")
        for name, values, reason, instead in (
            ("bypass", NO_WINDOW, "only a window requests one bank at a time", "read_arbiter = wavefront"),
            ("window_delay", (WindowDelay.OFF,), "requests wait in registers", "window_delay = auto"),
            ("bank_ports", (2,), "banks have one port", "read_arbiter = wavefront"))),
    units=(
        Unit("ReadPort", "warploom.rtl.pipelined.read_port.ReadPort", CONFIG, needs=ON),
        Unit("PipelinedArbiter", "warploom.rtl.pipelined.arbiter.PipelinedArbiter", ARBITER),
        Unit("PipelinedCoalescingArbiter",
             "warploom.rtl.coalescing.pipelined_arbiter.PipelinedCoalescingArbiter", ARBITER),
    ),
    cores=(
        Core("bow pipelined", ("bypass=bow", SETTING, "entries=6"), is_long=True),
        Core("bow_hints pipelined coalescing", ("bypass=bow_hints", SETTING, "window=2", "entries=4", "coalescing=on",
                                                "alignment=write", "gating=in_lane", *FAST), is_long=True),
        Core("bow_hints of two cycles", ("bypass=bow_hints", SETTING, "dispatch_delay=1", "window=2", "entries=4",
                                         "coalescing=on", "alignment=write", "gating=in_lane", *FAST)),
    ),
    runs=(
        Runs("small", ("bypass=bow", SETTING)),
        Runs("small", ("bypass=bow", SETTING, "dispatch_delay=1")),
        Runs("small", ("bypass=bow_hints", SETTING, "transient=on", "coalescing=on", "gating=cross_lane")),
        Runs("small", ("bypass=bow_wr", SETTING, "coalescing=on", "alignment=write", *FAST)),
        Runs("small", ("bypass=bow_wr", SETTING, "coalescing=on", "alignment=write", "dispatch_delay=1", *FAST)),
        Runs("maxwell", ("bypass=bow_hints", SETTING, "dispatch_delay=1")),
    ),
    is_on=ON,
    words=("", "reads in two cycles"),
    bugs=("warploom.tb.pipelined.mutants.MUTANTS", "warploom.tb.coalescing.pipelined_mutants.MUTANTS"),
    names=("PIPELINED", "PipelinedArbiter", "PipelinedCoalescingArbiter", "ReadPort", "ReadSelection"),
    folders=("pipelined",),
)
