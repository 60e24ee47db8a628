"""CORF, with which coalescing is compared: two registers of an instruction packed in one entry. Its register file is in
the golden model only; some of its units exist in hardware, to measure them."""

from warploom.arch.mechanisms.baseline import Layout
from warploom.arch.mechanisms.coalescing import Coalescing
from warploom.arch.mechanisms.descriptor import CONFIG, ROWS, Conflict, Mechanism, ModelOnly, Unit

KINDS = (Coalescing.CORF, Coalescing.CORF_PLUS)


def _alone(field: str, others: tuple[str, ...], reason: str) -> Conflict:
    """A mechanism that cannot be combined with CORF."""
    return Conflict(field, others, "coalescing", KINDS, f"{reason}; use coalescing = off or on")


CORF = Mechanism(
    name="corf",
    conflicts=(
        Conflict("coalescing", KINDS, "layout", (Layout.WSHIFT,),
                 "CORF needs all registers of a warp in one bank, layout = wid"),
        _alone("gating", ("active", "in_lane", "cross_lane"), "CORF has no columns to gate"),
        _alone("bypass", ("bow", "bow_wr", "bow_hints", "rfc"),
               "CORF's collectors take their operands from its own register file"),
        _alone("affine", ("a", "ab", "abm"),
               "CORF packs registers at compile time, when nobody knows which are compact"),
    ),
    model_only=(ModelOnly("coalescing", KINDS, "a comparator", "off or on"),),
    units=(
        Unit("Shifter", "warploom.rtl.corf.shifter.Shifter", fixed={"up": True}, alone=True),
        Unit("RenameTable", "warploom.rtl.corf.rename.RenameTable", CONFIG, alone=True),
        Unit("MaskTable", "warploom.rtl.corf.allocation.MaskTable", CONFIG, alone=True),
        Unit("Allocator", "warploom.rtl.corf.allocation.Allocator", ROWS, alone=True),
    ),
    model_runs=tuple(f"coalescing={kind} layout=wid" for kind in KINDS),
    bugs=("warploom.tb.corf.mutants.MUTANTS",),
    names=("corf", "CORF", "CORF_PLUS"),
    folders=("corf",),
)
