"""The separable allocator: banks and collectors of reads are matched in logarithmic time. None of the sources has it;
it is the alternative to the wavefront of [RADAIDEH] for request matrices of many collectors."""

from enum import StrEnum

from warploom.arch.mechanisms.bypassing import Bypass
from warploom.arch.mechanisms.coalescing import Alignment, Coalescing
from warploom.arch.mechanisms.descriptor import ARBITER, Conflict, Core, Mechanism, Needs, Runs, Unit


class ReadArbiter(StrEnum):
    """How the banks and collectors of reads are matched."""

    WAVEFRONT = "wavefront"  # a refused read always conflicts with a granted one; time grows with the matrix
    SEPARABLE = "separable"  # each bank selects a collector, then each collector one of its banks; logarithmic time
    PIPELINED = "pipelined"  # of windows: each bank selects a collector in one cycle and grants its read in a later one


KIND = (ReadArbiter.SEPARABLE,)
ON: Needs = (("read_arbiter", KIND),)
SETTING = "read_arbiter=separable"

SEPARABLE = Mechanism(
    name="separable",
    conflicts=tuple(
        Conflict("read_arbiter", KIND, name, values, f"{reason}; use read_arbiter = wavefront")
        for name, values, reason in (
            ("coalescing", tuple(kind for kind in Coalescing if kind not in (Coalescing.OFF, Coalescing.ON)),
             "registers in one entry are matched by a wavefront only"),
            ("alignment", (Alignment.IDEAL, Alignment.UPPER_BOUND), "a bound of coalescing has no sides to select by"),
            ("bypass", tuple(kind for kind in Bypass if kind is not Bypass.OFF),
             "a window or cache has an arbiter of its own"),
            ("tfet_rows", tuple(range(1, 4097)), "an access of two cycles holds its bank and its collector"),
            ("bank_ports", (2,), "banks have one port"))),
    units=(
        Unit("SeparableArbiter", "warploom.rtl.separable.arbiter.SeparableArbiter", ARBITER, needs=ON),
        Unit("SeparableCoalescingArbiter",
             "warploom.rtl.coalescing.separable_arbiter.SeparableCoalescingArbiter", ARBITER,
             needs=(*ON, ("coalescing", (Coalescing.ON,)))),
    ),
    cores=(
        Core("separable", (SETTING, "collectors=5"), is_long=True),
        Core("separable sets", (SETTING, "schedulers=2", "issue_ports=2", "collectors=5", "sfu_collectors=1",
                                "mem_collectors=2", "gating=cross_lane"), is_long=True),
        Core("separable coalescing", (SETTING, "coalescing=on", "collectors=5", "gating=cross_lane"), is_long=True),
    ),
    runs=(
        Runs("small", (SETTING, "collectors=5")),
        Runs("small", (SETTING, "coalescing=on", "alignment=write", "collectors=5")),
        Runs("gtx480", (SETTING,)),
        Runs("gtx480", (SETTING, "coalescing=on")),
        Runs("narrow", (SETTING, "affine=abm", "gating=in_lane")),
    ),
    is_on=ON,
    words=("", "separable allocator"),
    bugs=("warploom.tb.separable.mutants.MUTANTS", "warploom.tb.coalescing.separable_mutants.MUTANTS"),
    names=("SEPARABLE", "SeparableArbiter", "SeparableCoalescingArbiter"),
    folders=("separable",),
)
