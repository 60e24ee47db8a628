"""The separable allocator: banks and collectors of reads are matched in logarithmic time. None of the sources has it;
it is the alternative to the wavefront of [RADAIDEH] for request matrices of many collectors."""

from enum import StrEnum

from warploom.arch.mechanisms.bypassing import Bypass
from warploom.arch.mechanisms.coalescing import Coalescing
from warploom.arch.mechanisms.descriptor import ARBITER, Conflict, Core, Mechanism, Needs, Runs, Unit


class ReadArbiter(StrEnum):
    """How the banks and collectors of reads are matched."""

    WAVEFRONT = "wavefront"  # a refused read always conflicts with a granted one; time grows with the matrix
    SEPARABLE = "separable"  # each bank selects a collector, then each collector one of its banks; logarithmic time


KIND = (ReadArbiter.SEPARABLE,)
ON: Needs = (("read_arbiter", KIND),)
SETTING = "read_arbiter=separable"

SEPARABLE = Mechanism(
    name="separable",
    conflicts=tuple(
        Conflict("read_arbiter", KIND, name, values, f"{reason}; use read_arbiter = wavefront")
        for name, values, reason in (
            ("coalescing", tuple(kind for kind in Coalescing if kind is not Coalescing.OFF),
             "requests for parts of a bank are matched by a wavefront only"),
            ("bypass", tuple(kind for kind in Bypass if kind is not Bypass.OFF),
             "a window or cache has an arbiter of its own"),
            ("tfet_rows", tuple(range(1, 4097)), "an access of two cycles holds its bank and its collector"),
            ("bank_ports", (2,), "banks have one port"))),
    units=(
        Unit("SeparableArbiter", "warploom.rtl.separable.arbiter.SeparableArbiter", ARBITER, needs=ON),
    ),
    cores=(
        Core("separable", (SETTING, "collectors=5")),
        Core("separable sets", (SETTING, "schedulers=2", "issue_ports=2", "collectors=5", "sfu_collectors=1",
                                "mem_collectors=2", "gating=cross_lane"), is_long=True),
    ),
    runs=(
        Runs("small", (SETTING, "collectors=5")),
        Runs("gtx480", (SETTING,)),
        Runs("narrow", (SETTING, "affine=abm", "gating=in_lane")),
    ),
    is_on=ON,
    words=("", "separable allocator"),
    bugs=("warploom.tb.separable.mutants.MUTANTS",),
    names=("SEPARABLE", "SeparableArbiter"),
    folders=("separable",),
)
