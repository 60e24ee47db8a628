"""Coverage of gating: every possible effect of a register write on a zero mask, by name, and the reasons why some names
are impossible.

A name is a tuple of words. The first describes the write in a group: `full`, or partial, and then the group is `whole`
(all four lanes execute) or `bound`; the next gives its executing lanes, lane 0 last; then the changes:

- without coalescing the R-bit, and the bits of `straight` lanes if it stays 0, of `reordered` granules if it stays 1;
- with coalescing each `granule`, which may be above the width, where the sign is 0 or 1;
- with `in_lane` each `lane`, and what lanes that do not execute are when they are `filled` with the sign.
"""

from collections.abc import Iterator
from itertools import product

from warploom.arch.mechanisms import Gating
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.register_file.zero_mask import Zero

Name = tuple[str, ...]

_PATTERNS = [f"{lanes:04b}" for lanes in range(16)]
_GROUPS = [*product(["full"], _PATTERNS), *product(["bound"], _PATTERNS[:-1]), ("whole", "1111")]
_BITS = ("used", "zero")
_R_BITS = ("R0", "R1")
_ROLES = ("other", "executing")
_ABOVE = ("above 0", "above 1")


def lane_order(gating: Gating, old: Zero, new: Zero, lanes: int, full: bool) -> Iterator[Name]:
    """The effects of a write without coalescing."""
    for group in range(8):
        kind, pattern = meeting = _meeting(lanes >> 4 * group & 0xF, full)
        yield meeting
        if gating is Gating.CROSS_LANE:
            was, now = old.reorder >> group & 1, new.reorder >> group & 1
            yield kind, pattern, _R_BITS[was], _R_BITS[now]
            for bit in range(4 * group, 4 * group + 4) if was == now else ():
                before, after = _BITS[old.mask >> bit & 1], _BITS[new.mask >> bit & 1]
                if now:
                    yield kind, pattern, "reordered", before, after
                else:
                    yield kind, _ROLES[lanes >> bit & 1], "straight", before, after
    if gating is Gating.IN_LANE:
        yield from _lanes(old, new, lanes, full)


def interleaved(  # noqa: PLR0917 - a register before and after
    gating: Gating, old: Zero, old_encoding: Encoding, new: Zero, encoding: Encoding, lanes: int, full: bool
) -> Iterator[Name]:
    """The effects of a write with coalescing."""
    for group in range(8):
        kind, pattern = meeting = _meeting(lanes >> 4 * group & 0xF, full)
        yield meeting
        if gating is Gating.CROSS_LANE:
            for k in range(4):
                yield kind, pattern, "granule", _granule(old, old_encoding, group, k), _granule(new, encoding, group, k)
    if gating is Gating.IN_LANE:
        yield from _lanes(old, new, lanes, full)
        if not full and encoding.width > old_encoding.width:
            for lane in range(32):
                if not lanes >> lane & 1:
                    yield "filled", str(old_encoding.sign), _BITS[old.mask >> lane & 1]


def possible(gating: Gating, *, coalescing: bool) -> set[Name]:
    """All names that a long random run must hit, and no others."""
    return {name for name in _all(gating, coalescing) if why_impossible(name) is None}


def why_impossible(name: Name) -> str | None:  # noqa: PLR0911 - one for each reason
    """The reason why a name cannot happen, if there is one."""
    match name:
        case ("bound", _, "R0" | "R1" as was, "R0" | "R1" as now) if was != now:
            return "only free groups choose"
        case ("full", lanes, _, "R1") | ("full", lanes, "reordered", _, _) if lanes.count("1") < 2:
            return "if at most one lane counts, at least as many lanes are zero as byte positions"
        case ("full", "other", "straight", _, "used") | ("full", "0000", "granule", _, "used"):
            return "lanes that do not execute count as zero"
        case ("bound", "other", "straight", was, now) | (_, "other", "lane", was, now) if was != now:
            return "lanes that do not execute keep their bits"
        case ("bound", _, "reordered" | "granule", "used" | "above 1", "zero"):
            return "the other lanes may have something there"
        case ("bound", "0000", "reordered" | "granule", "zero" | "above 0", "used"):
            return "no lane has anything new"
        case ("whole" | "bound", _, "granule", "zero" | "used", "above 0" | "above 1"):
            return "a partial write makes nothing narrower"
        case ("whole" | "bound", _, "granule", *above) if set(above) == {"above 0", "above 1"}:
            return "over another sign, a partial write takes all four bytes"
    return None


def _all(gating: Gating, coalescing: bool) -> Iterator[Name]:
    changes = list(product(_BITS, repeat=2))
    yield from _GROUPS
    if gating is Gating.IN_LANE:
        for kind, role, change in product(("full", "partial"), _ROLES, changes):
            yield kind, role, "lane", *change
        if coalescing:
            yield from product(("filled",), "01", _BITS)
    elif gating is Gating.CROSS_LANE and coalescing:
        for group, change in product(_GROUPS, product(_BITS + _ABOVE, repeat=2)):
            yield *group, "granule", *change
    elif gating is Gating.CROSS_LANE:
        for group in _GROUPS:
            yield from ((*group, *change) for change in product(_R_BITS, repeat=2))
            yield from ((*group, "reordered", *change) for change in changes)
        for kind, role, change in product(("full", "whole", "bound"), _ROLES, changes):
            if (kind, role) != ("whole", "other"):  # there are no such lanes
                yield kind, role, "straight", *change


def _lanes(old: Zero, new: Zero, lanes: int, full: bool) -> Iterator[Name]:
    kind = "full" if full else "partial"
    for lane in range(32):
        yield kind, _ROLES[lanes >> lane & 1], "lane", _BITS[old.mask >> lane & 1], _BITS[new.mask >> lane & 1]


def _meeting(lanes: int, full: bool) -> tuple[str, str]:
    return "full" if full else "whole" if lanes == 0xF else "bound", _PATTERNS[lanes]


def _granule(zero: Zero, encoding: Encoding, group: int, k: int) -> str:
    return _ABOVE[encoding.sign] if k >= encoding.width else _BITS[zero.mask >> 8 * k + group & 1]
