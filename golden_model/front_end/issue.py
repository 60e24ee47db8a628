"""`Issue`: what each scheduler issues in a cycle, and why not (docs/contract/front_end.md, *Issue ports*)."""

from collections.abc import Mapping, Sequence

from warploom.arch.config import SmConfig
from warploom.golden_model.front_end.candidates import Candidates
from warploom.golden_model.front_end.decisions import COUNTS, NONE_FREE, Decisions
from warploom.golden_model.front_end.drowsy import Drowsy
from warploom.golden_model.front_end.pairs import Pairs
from warploom.golden_model.front_end.pickers import pickers_of, slots_of_ports
from warploom.golden_model.front_end.stalls import LONG, Stall, Stalls
from warploom.golden_model.front_end.warps import Follower, Warp
from warploom.golden_model.operands.port import OperandStore

Selected = tuple[Sequence[Warp], Sequence[Warp]]
"""The warps that issue in a cycle, and those of them whose instruction enters the datapath, of each port at most one;
both in the order in which the schedulers claim the ports."""

NOTHING_SELECTED: Selected = (), ()

_COLLECTOR, _PORT, _NO_WARP, _DRAINED = map(int, (Stall.COLLECTOR, Stall.PORT, Stall.NO_WARP, Stall.DRAINED))


class Issue:
    """The schedulers, which claim the issue ports in turn: a picker each. `warps` are those in the slots; `select`
    returns warps, and all other methods name one by its slot. `state` and `demand` are those of `Candidates`."""

    def __init__(
        self, config: SmConfig, decisions: Decisions, warps: Mapping[int, Warp], pairs: Pairs | None = None
    ) -> None:
        self.stalls = Stalls()
        self._empty = _NO_WARP  # of a scheduler without any warp
        self.seconds: list[Follower] = []
        """The seconds of the pairs that issue in this cycle."""
        self._decisions, self._warps, self._pairs = decisions, warps, pairs
        self._candidates = Candidates(config.warps, len(config.collector_sets))
        self.states = self._candidates.states
        self._interval = config.front_end_interval
        self._pickers = pickers_of(config)
        count = len(self._pickers)
        ports = [slots_of_ports(config)[picker % config.issue_ports] for picker in range(count)]
        served = list(zip(self._pickers, ports, strict=True))  # with the slots of the port that the scheduler claims
        self._turns = [served[first:] + served[:first] for first in range(count)]
        self._drowsy = Drowsy(config.drowsy) if config.drowsy else None
        self.slept = self._drowsy.counts if self._drowsy is not None else None
        self.enter = self._show if self._drowsy is None else self._enter_asleep
        """The state of a slot's next instruction is this one."""
        self._idle: Sequence[int] = ()  # causes of the schedulers' stalls while no warp may issue, if computed

    def select(self, cycle: int, tags: int, operands: OperandStore, preferred: int = 0) -> Selected:
        """The warps that issue in this cycle. There are so many free `tags`. Pickers choose among the `preferred` slots
        that may issue, if there are any."""
        candidates, decisions, pairs = self._candidates, self._decisions, self._pairs
        if pairs is not None:
            self.seconds = []
        late = cycle % self._interval
        if late or not candidates.ready:
            self.stalls.count(() if late else self._idle or self._causes())
            return NOTHING_SELECTED
        picked, into_datapath, stalled = [], [], []
        portless, entering = candidates.able(decisions.free_entries(operands.free) if tags else NONE_FREE)
        apart, served = decisions.apart, 0  # slots whose port has been claimed
        left = [*operands.free_collectors]
        if 0 in left:
            entering = self._served(entering, left, apart)
        for picker, port in self._turns[cycle // self._interval % len(self._turns)]:
            able = picker.scope & (portless | entering)
            if able:
                slot = picker.pick(able & preferred or able)
                warp = self._warps[slot]
                picked.append(warp)
                if entering >> slot & 1:
                    into_datapath.append(warp)
                    served |= port
                    tags -= 1
                    entering &= ~served if tags else 0
                    if (entering or pairs is not None) and not apart >> slot & 1:
                        entering &= ~self._take(slot, left) | apart
                    if pairs is not None:
                        tags = self._claim_second(pairs, slot, tags, left)
                        entering = self._served(entering if tags else 0, left, apart)
            elif picker.scope & candidates.ready:
                stalled.append(_PORT if served & picker.own else _COLLECTOR)
            else:
                stalled.append(candidates.cause(picker.scope or picker.own, self._empty))
        if stalled or self.stalls.now:
            self.stalls.count(stalled)
        return picked, into_datapath

    def wake(self, cycle: int) -> None:
        """A cycle begins: warps whose registers are awake from now on may issue."""
        if self._drowsy is not None:
            for slot, state in self._drowsy.awake(cycle):
                self._show(slot, state)

    def _causes(self) -> Sequence[int]:
        """The causes of the schedulers' stalls while no warp may issue."""
        self._idle = [self._candidates.cause(each.scope or each.own, self._empty) for each in self._pickers]
        return self._idle

    def _take(self, slot: int, left: list[int]) -> int:
        """The slot's instruction takes a collector. Returns the slots that find none left."""
        each = self._candidates.collectors(slot)
        left[each] -= 1
        return 0 if left[each] else self._candidates.claiming(each)

    def _served(self, entering: int, left: Sequence[int], apart: int) -> int:
        """Of the slots `entering`, those for whose set collectors are left, or that need none."""
        for each, count in enumerate(left):
            if not count:
                entering &= ~self._candidates.claiming(each) | apart
        return entering

    def _claim_second(self, pairs: Pairs, slot: int, tags: int, left: list[int]) -> int:
        """The second of a pair issues beside the pick of a slot, if there is one, and a tag and a collector for it.
        Takes the collector; returns the tags that are left."""
        found = pairs.second(slot)
        if found is None:
            return tags
        follower, claim = found
        if follower.enters:
            each = claim.demand // COUNTS
            if not (tags and (claim.apart or left[each])):
                return tags
            left[each] -= not claim.apart
            tags -= 1
        self.seconds.append(follower)
        return tags

    def next_event(self, cycle: int) -> int | None:
        """If nothing is picked in a cycle: the next cycle in which time alone may change that."""
        late = cycle % self._interval
        if late:
            return cycle - late + self._interval
        return self._drowsy.next_event() if self._drowsy is not None else None

    def advance(self, cycle: int, cycles: int) -> None:
        """Let this number of cycles pass that are equal to this one."""
        if self._drowsy is not None:
            self._drowsy.advance(cycles)
        self.stalls.repeat((cycle + cycles) // self._interval - cycle // self._interval)

    # ------------------------------------------------------------------ the end of a cycle

    @property
    def drained(self) -> bool:
        """Whether it is known that no block is left."""
        return self._empty == _DRAINED

    def drain(self) -> None:
        """No block is left."""
        self._idle = ()
        self._empty = _DRAINED

    def joined(self, slot: int, group: int) -> None:
        """A new warp of a group is in the slot."""
        self._idle = ()
        self._pickers[slot % len(self._pickers)].joined(slot, group)

    def left(self, slot: int) -> None:
        """The warp in the slot has nothing left to issue."""
        self._idle = ()
        self._candidates.demand(slot, None)
        self._candidates.enter(slot, None)
        self._pickers[slot % len(self._pickers)].left(slot)

    def comes(self, slot: int, demand: int, state: int) -> None:
        """The slot's warp comes to an instruction with this demand."""
        if demand != self._candidates.demands[slot]:
            self._candidates.demand(slot, demand)
        self.enter(slot, state)

    def _enter_asleep(self, slot: int, state: int) -> None:
        """`enter` where registers may have to be woken first."""
        assert self._drowsy is not None
        self._show(slot, self._drowsy.shown(slot, state))

    def _show(self, slot: int, state: int) -> None:
        """The state of the slot's next instruction, as pickers see it."""
        if state == self.states[slot]:
            return
        old = self._candidates.enter(slot, state)
        self._idle = ()
        if (state in LONG) != (old in LONG):
            self._pickers[slot % len(self._pickers)].waits(slot, state in LONG)
