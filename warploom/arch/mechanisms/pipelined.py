"""Reads in two cycles: for windows of many warps, whose requests a bank cannot match in one. None of the sources has
it."""

from warploom.arch.mechanisms.baseline import FAST
from warploom.arch.mechanisms.bypassing import WINDOWS, Bypass, WindowDelay
from warploom.arch.mechanisms.coalescing import Alignment, Coalescing
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
            ("bypass", tuple(kind for kind in Bypass if kind not in WINDOWS),
             "only a window requests one bank at a time", "read_arbiter = wavefront or separable"),
            ("window_delay", (WindowDelay.OFF,), "requests wait in registers", "window_delay = auto"),
            ("coalescing", tuple(kind for kind in Coalescing if kind not in (Coalescing.OFF, Coalescing.ON)),
             "registers in one entry are matched by a wavefront only", "read_arbiter = wavefront"),
            ("alignment", (Alignment.IDEAL, Alignment.UPPER_BOUND), "a bound of coalescing has no sides to select by",
             "read_arbiter = wavefront"),
            ("tfet_rows", tuple(range(1, 4097)), "an access of two cycles holds its bank",
             "read_arbiter = wavefront"),
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
                                                "alignment=write", "gating=in_lane", *FAST)),
    ),
    runs=(
        Runs("small", ("bypass=bow", SETTING)),
        Runs("small", ("bypass=bow_hints", SETTING, "transient=on", "coalescing=on", "gating=cross_lane")),
        Runs("small", ("bypass=bow_wr", SETTING, "coalescing=on", "alignment=write", *FAST)),
        Runs("maxwell", ("bypass=bow_hints", SETTING)),
    ),
    is_on=ON,
    words=("", "reads in two cycles"),
    bugs=("warploom.tb.pipelined.mutants.MUTANTS", "warploom.tb.coalescing.pipelined_mutants.MUTANTS"),
    names=("PIPELINED", "PipelinedArbiter", "PipelinedCoalescingArbiter", "ReadPort", "ReadSelection"),
    folders=("pipelined",),
)
