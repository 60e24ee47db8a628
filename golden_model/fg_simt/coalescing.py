"""Which rows of accesses are one access to a line (docs/contract/fg_simt.md, *Memory unit*)."""

from collections.abc import Mapping

from warploom.arch.fg_simt.sizes import LINE


def in_one_line(addresses: Mapping[int, int]) -> bool:
    """Whether the addresses of lanes, by their numbers, are in one line."""
    return len({address // LINE for address in addresses.values()}) == 1


def are_consecutive(addresses: Mapping[int, int], size: int) -> bool:
    """Whether those of lanes i and j differ by (j - i) * size, for all of them."""
    return len({address - lane * size for lane, address in addresses.items()}) == 1


def coalesces(addresses: Mapping[int, int], size: int) -> bool:
    """Whether one access to a line serves a row without atomics."""
    return in_one_line(addresses) and (len(set(addresses.values())) == 1 or are_consecutive(addresses, size))
