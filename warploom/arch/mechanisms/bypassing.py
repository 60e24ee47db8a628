"""Bypassing: a collector for each warp holds the registers that its last instructions read and wrote ([BOW]); and the
register file cache, with which that publication compares it."""

from enum import StrEnum

from warploom.arch.mechanisms.baseline import FAST
from warploom.arch.mechanisms.coalescing import Coalescing
from warploom.arch.mechanisms.descriptor import (
    ARBITER,
    BANK_ARBITER,
    CONFIG,
    Conflict,
    Core,
    Events,
    Mechanism,
    Needs,
    Points,
    PortField,
    Runs,
    Switch,
    Unit,
)
from warploom.arch.mechanisms.gating import Gating


class Bypass(StrEnum):
    """How values pass from one instruction of a warp to the next without the register file ([BOW], section IV)."""

    OFF = "off"
    BOW = "bow"  # a collector for each warp holds the registers of its last instructions; write-through
    BOW_WR = "bow_wr"  # write-back: a value overwritten in the window is never written to the register file
    BOW_HINTS = "bow_hints"  # also hints of the compiler: whether collector and register file need a result
    RFC = "rfc"  # a register file cache; golden model only

    @property
    def has_window(self) -> bool:
        """Whether collectors belong to warps and have a window of instructions."""
        return self in WINDOWS

    @property
    def has_hints(self) -> bool:
        """Whether instructions carry the compiler's hints."""
        return self is Bypass.BOW_HINTS

    @property
    def writes_back(self) -> bool:
        """Whether collectors hold values that the register file does not have."""
        return self in (Bypass.BOW_WR, Bypass.BOW_HINTS)


class WindowDelay(StrEnum):
    """Whether what a window sends, its requests and evictions, waits in a register for a cycle."""

    AUTO = "auto"  # with reads in two cycles, and where a path is longer than 1 ns on `small` otherwise
    OFF = "off"
    ON = "on"


class Transient(StrEnum):
    """Whether transient values, which only collectors ever hold, have registers without a row of the register file
    ([BOW], section IV-B)."""

    OFF = "off"
    ON = "on"  # the compiler assigns them

    @property
    def words(self) -> str:
        """The end of a description."""
        return ", no rows for transient values" if self is Transient.ON else ""


WINDOWS = (Bypass.BOW, Bypass.BOW_WR, Bypass.BOW_HINTS)
NO_WINDOW = tuple(kind for kind in Bypass if kind not in WINDOWS)
WINDOW: Needs = (("bypass", WINDOWS),)
WRITE_BACK: Needs = (("bypass", (Bypass.BOW_WR, Bypass.BOW_HINTS)),)
HINTS: Needs = (("bypass", (Bypass.BOW_HINTS,)),)
NO_ROWS: Needs = (("transient", (Transient.ON,)),)
FILES = (Coalescing.OFF, Coalescing.ON)

BYPASSING = Mechanism(
    name="bypassing",
    strongest="bypass=bow_hints",
    switches=(
        Switch("bypass", Bypass.OFF, "operands", "how values pass from one instruction to the next", "[BOW]"),
        Switch("transient", Transient.OFF, "operands", "whether transient values have registers without a row",
               "[BOW]"),
    ),
    conflicts=(
        Conflict("transient", (Transient.ON,), "bypass", tuple(b for b in Bypass if b is not Bypass.BOW_HINTS),
                 "the compiler's hints say which values are transient; use bow_hints"),
        Conflict("dispatch_delay", (1,), "bypass", NO_WINDOW, "only windows dispatch in two cycles; use 0"),
        Conflict("bypass", WINDOWS, "issue_per_warp", (2,),
                 "a warp's collector takes one instruction a cycle; use issue_per_warp = 1"),
    ),
    fields=(
        PortField("issue", "first", bits=1, needs=WINDOW),
        PortField("issue", "aside", bits=1, needs=(*HINTS, ("affine", ("a", "ab", "abm")))),
        PortField("hints", "to_collector", bits=1, needs=HINTS), PortField("hints", "to_file", bits=1, needs=HINTS),
        PortField("result", "warp", counts="warps", needs=WINDOW), PortField("result", "dst", bits=8, needs=WINDOW),
    ),
    units=(
        Unit("BypassingCollector", "warploom.rtl.bypass.collector.BypassingCollector", CONFIG, probe={"probe": True},
             needs=WINDOW),
        Unit("RotatingArbiter", "warploom.rtl.bypass.arbiter.RotatingArbiter", BANK_ARBITER),
        Unit("RotatingCoalescingArbiter", "warploom.rtl.bypass.arbiter.RotatingCoalescingArbiter",
             {**ARBITER, "yields": "yields_to_pending"}),
        Unit("EvictionUnit", "warploom.rtl.bypass.eviction.EvictionUnit", CONFIG, needs=WRITE_BACK),
    ),
    parts=("warploom.rtl.operands.windows.WindowCollectors",),
    cores=(
        Core("bow", ("bypass=bow",), is_long=True),
        Core("bow with two bank ports", ("bypass=bow", "bank_ports=2"), is_long=True),
        Core("bow_wr of 6", ("bypass=bow_wr", "entries=6"), is_long=True),
        Core("bow_hints reg", ("bypass=bow_hints", "entries=6", "coalescing=on", "alignment=reg", "window_delay=off"),
             is_long=True),
        Core("bow_wr in_lane reg", ("bypass=bow_wr", "entries=6", "gating=in_lane", "coalescing=on", "alignment=reg"),
             is_long=True),
        Core("bow_wr cross_lane", ("bypass=bow_wr", "gating=cross_lane", "window=4", "window_delay=off"),
             is_long=True),
        Core("bow_hints in_lane write", ("bypass=bow_hints", "window=2", "entries=4", "gating=in_lane", "coalescing=on",
                                         "alignment=write"), is_long=True),
        Core("bow_hints fast", ("bypass=bow_hints", "window=2", "entries=4", "coalescing=on",
                                "window_delay=off", *FAST), is_long=True),
        Core("bow_hints late", ("bypass=bow_hints", "window=2", "entries=4", "coalescing=on", "gating=in_lane"),
             is_long=True),
        Core("bow_hints transient reg", ("bypass=bow_hints", "window=2", "entries=8", "transient=on", "coalescing=on",
                                         "gating=cross_lane", "window_delay=off"), is_long=True),
    ),
    coverage=(
        Points(("a warp without room",), WINDOW),
        Points(("an operand passes its entry",), (*WINDOW, ("arrival_delay", (0,)), ("dispatch_delay", (0,)))),
        Points(("a full collector takes as another leaves",), (*WINDOW, ("turnaround", (0,)))),
        Points(("a register without a row is read", "a result that no entry awaits is dropped"), NO_ROWS),
        Points(("a result for an entry with other dirty lanes", "evictions queue"), WRITE_BACK),
    ),
    runs=(
        # With a collector for each of 48 warps a build takes many minutes. Entries for each instruction of the window,
        # all and half of them ([BOW], section IV-C).
        Runs("small", axes=(("bypass", WINDOWS), ("entries", (12, 6)), ("coalescing", FILES))),
        Runs("pascal", axes=(("bypass", WINDOWS),)),
        Runs("maxwell", ("bypass=bow_hints",), (("gating", tuple(Gating)),)),
        Runs("small", ("bypass=bow_hints", "transient=on"), (("coalescing", FILES),)),
        Runs("small", ("bypass=bow_wr", "window=2", "entries=4", *FAST)),
        Runs("small", ("bypass=bow_hints", "coalescing=on", "gating=cross_lane", *FAST)),
        Runs("small", ("bypass=bow_hints", "coalescing=on", "gating=cross_lane", "window_delay=off")),
        Runs("small", ("bypass=bow_hints", "window_delay=on")),
    ),
    varied=("bypass", "window", "entries", "transient"),
    words=("no bypassing", "{config.bypass} of {config.window} in {config.entries}{config.transient.words}"),
    is_on=WINDOW,
    bugs=("warploom.tb.bypass.mutants.MUTANTS", "warploom.tb.bypass.collector_mutants.MUTANTS",
          "warploom.tb.bypass.writeback_mutants.MUTANTS", "warploom.tb.bypass.datapath_mutants.MUTANTS"),
    events=(
        Events("bypassed", "datapath.counts", {"forwarded": "operands forwarded", "fetched": "operands fetched"}),
    ),
    names=("bypass", "Bypass", "bypassing"),
    folders=("bypass",),
)
