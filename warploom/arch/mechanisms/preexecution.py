"""Pre-execution, with which hints for order are compared ([HAWS], sections 3.4 and 5.4.2): in the golden model only."""

from warploom.arch.mechanisms.bypassing import Bypass
from warploom.arch.mechanisms.corf import KINDS as CORF_KINDS
from warploom.arch.mechanisms.descriptor import Conflict, Mechanism, ModelOnly
from warploom.arch.mechanisms.hints import Hinting

KIND = (Hinting.PREEXECUTION,)

PREEXECUTION = Mechanism(
    name="pre-execution",
    conflicts=(
        Conflict("hints", KIND, "bypass", tuple(bypass for bypass in Bypass if bypass is not Bypass.OFF),
                 "windows and the register file cache keep the last registers in program order; use bypass = off"),
        Conflict("hints", KIND, "coalescing", CORF_KINDS,
                 "CORF packs registers at compile time, and none that takes a result of hardware's choice; use "
                 "coalescing = off or on"),
        Conflict("hints", KIND, "affine", ("a", "ab", "abm"),
                 "a refused attempt squashes those after it, which may have executed; use affine = off"),
        Conflict("hints", KIND, "issue_per_warp", (2,),
                 "the second of a pair follows the first in the program; use issue_per_warp = 1"),
    ),
    model_only=(ModelOnly("hints", KIND, "a comparator", "off"),),
    model_runs=("hints=preexecution",),
    names=("PREEXECUTION", "SearchOrder"),
    folders=("preexecution",),
)
