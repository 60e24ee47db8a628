"""`BySchedulers`: the order of dispatch if schedulers share pipes (docs/contract/pipes.md, *Shared pipes*)."""

from collections.abc import Sequence
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.pipes import Sharing
from warploom.golden_model.dispatch import Chosen, Dispatcher
from warploom.golden_model.operands.collector import ALL_SLOTS

Eligible = Sequence[tuple[int, int]]
"""Eligible instructions of a port, oldest first: scheduler and collector of each."""

_ALL = -1
"""In place of a scheduler: instructions of all of them stay in order."""


class BySchedulers:
    """A port chooses by the policy of its pipes. SFU and MEM instructions leave in the order of issue, those of a
    shared pipe in that of their scheduler."""

    def __init__(self, config: SmConfig) -> None:
        self._schedulers = config.schedulers
        self._shared = [pipe.is_shared for pipe in config.pipes]
        self._policies = [config.pipes[served[0]].sharing for served in config.dispatch_ports.values()]
        self._first = [0] * len(self._policies)  # by port, the scheduler whose turn it is
        self._order: list[int] = []  # busy collectors, oldest instruction first
        self._owners: dict[int, int] = {}  # the scheduler of each

    def select(self, pipes: Dispatcher, collectors: Sequence[Any]) -> Chosen:
        """See `warploom.golden_model.dispatch.Order`, here and below."""
        eligible: list[list[tuple[int, int]]] = [[] for _ in self._policies]
        passed = set[tuple[int, int]]()
        for index in self._order:
            fields = collectors[index].fields
            pipe, scheduler = fields["pipe"], fields["warp"] % self._schedulers
            self._owners[index] = scheduler
            queue = pipe, scheduler if self._shared[pipe] else _ALL
            in_turn = pipe in pipes.sp or queue not in passed
            if in_turn and collectors[index].present == ALL_SLOTS and pipes.accepts(pipe, fields):
                eligible[pipes.port_of[pipe]].append((scheduler, index))
            passed.add(queue)
        return [(port, choice(self._policies[port], each, self._first[port]))
                for port, each in enumerate(eligible) if each]

    def issued(self, index: int) -> None:
        self._order.append(index)

    def left(self, port: int, index: int) -> None:
        self._order.remove(index)
        self._first[port] = (self._owners[index] + 1) % self._schedulers

    @property
    def waits(self) -> bool:
        return bool(self._order)


def choice(policy: Sharing, eligible: Eligible, first: int) -> int:
    """The collector whose instruction is dispatched; `first` is the scheduler whose turn it is."""
    if policy is Sharing.STATIC:
        return min(eligible, key=lambda each: each[0])[1]
    if policy is Sharing.FAIR:
        later = [each for each in eligible if each[0] >= first]
        return min(later or eligible, key=lambda each: each[0])[1]
    return eligible[0][1]
