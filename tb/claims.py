"""Claims on collectors, as benches see them (docs/contract/issue.md)."""

from collections.abc import Mapping, Sequence

from warploom.arch.config import SmConfig
from warploom.tb.codec import join


def shown(config: SmConfig, free: Sequence[int]) -> int:
    """The port `free_collectors` if so many are free in each set."""
    return join([min(count, config.issue_inputs) for count in free], config.issue_inputs.bit_length())


def free_of(config: SmConfig, word: int) -> list[int]:
    """The free collectors of each set, at most one for each input, that the port `free_collectors` shows."""
    bits = config.issue_inputs.bit_length()
    return [word >> bits * number & (1 << bits) - 1 for number in range(len(config.collector_sets))]


def granted(
    config: SmConfig, free: Sequence[int], claiming: Sequence[Mapping[str, int] | None], first: int
) -> list[bool]:
    """For each input whether its instruction gets one of the `free` collectors of its set; the first port goes
    first."""
    left, given = [*free], [False] * len(claiming)
    for turn in range(len(claiming)):
        number = (first * config.issue_per_warp + turn) % len(claiming)
        if (fields := claiming[number]) is not None:
            collectors = config.collector_set(config.pipes[fields["pipe"]].kind)
            given[number] = left[collectors] > 0
            left[collectors] -= given[number]
    return given
