"""The register file cache, with which bypassing is compared ([BOW], section V): in the golden model only."""

from warploom.arch.mechanisms.bypassing import Bypass
from warploom.arch.mechanisms.descriptor import Conflict, Mechanism, ModelOnly

KIND = (Bypass.RFC,)
REASON = "the register file cache is a comparator on the baseline's"

REGISTER_FILE_CACHE = Mechanism(
    name="register file cache",
    conflicts=(
        Conflict("bypass", KIND, "coalescing", ("on", "corf", "corf_plus"),
                 f"{REASON} register file; use coalescing = off"),
        Conflict("bypass", KIND, "gating", ("active", "in_lane", "cross_lane"),
                 f"{REASON} register file; use gating = off"),
        Conflict("affine", ("a", "ab", "abm"), "bypass", KIND,
                 f"{REASON} front end; use bypass = off, bow, bow_wr or bow_hints"),
    ),
    model_only=(ModelOnly("bypass", KIND, "a comparator", "off, bow, bow_wr or bow_hints"),),
    model_runs=("bypass=rfc",),
    names=("RFC", "CachedFile", "CachedCollector"),
    folders=("cached",),
)
