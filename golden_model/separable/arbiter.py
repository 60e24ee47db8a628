"""`match`: banks select collectors, then collectors select banks (docs/contract/register_file.md)."""

from collections import defaultdict

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import ReadArbiter
from warploom.golden_model.arbiter import Match, Wave, wavefront
from warploom.golden_model.masks import lowest


def match_of(config: SmConfig) -> Match:
    """How the arbiter of a configuration matches reads."""
    return match if config.read_arbiter is ReadArbiter.SEPARABLE else wavefront


def match(requests: tuple[int, ...], diagonal: int, size: int) -> Wave:
    """The reads granted in one cycle, for the same arguments as those of `wavefront`."""
    offers: dict[int, int] = defaultdict(int)  # for each collector, the mask of banks that selected it
    for bank, mask in enumerate(requests):
        if mask:
            offers[_first(mask, (diagonal - bank) % size)] |= 1 << bank
    pairs = tuple(sorted((_first(banks, (diagonal - collector) % size), collector)
                         for collector, banks in offers.items()))
    conflicts = sum(requests[bank].bit_count() - 1 for bank, _ in pairs)
    made = sum(mask.bit_count() for mask in requests)
    return Wave(pairs, conflicts, made - len(pairs) - conflicts)


def _first(mask: int, start: int) -> int:
    """The first bit that is set, cyclically, at or after `start`."""
    ahead = mask >> start
    return start + lowest(ahead) if ahead else lowest(mask)
