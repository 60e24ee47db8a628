"""`BypassingCollector`: holds the registers of a warp's last instructions (docs/contract/operands.md)."""

from collections import Counter
from collections.abc import Sequence

from warploom.arch.config import LANES, SmConfig
from warploom.golden_model.bypass.counts import Counts
from warploom.golden_model.bypass.entries import (
    Coming,
    Delivery,
    Entry,
    Events,
    Held,
    Leaving,
    Taken,
    in_turn,
    next_available,
)
from warploom.golden_model.bypass.fetch import OperandFetcher
from warploom.golden_model.bypass.lost import LostValues
from warploom.golden_model.named import named
from warploom.golden_model.operands.collector import extended
from warploom.golden_model.placement import Address
from warploom.golden_model.records import DispatchFields, StoredFields
from warploom.golden_model.words import ALL_LANES, broadcast, merge, nonzero_lanes

MOST_FREE = 4
"""`free_entries` for any instruction: one more than the registers that it may read."""

MOST_NEEDED = 4
"""Entries that an instruction may need, for its sources and its destination."""

NOT_CROWDED = 3
"""Entries that an instruction may need for its sources."""


class BypassingCollector:
    """One warp's collector: the instructions that wait, `held` (oldest first), and `entries`.

    Wires are functions of the state, computed when it changes; `clock` ends a cycle. `columns_stored` counts the lanes
    that entries stored since reset, and `counts`, which collectors may share, counts events. Raises `LostValue` if an
    instruction reads a dropped value.
    """

    observed = ("held", "used", "wanted", "dirty")

    def __init__(self, config: SmConfig, index: int, counts: Counts | None = None) -> None:
        self.index = index
        self.entries = [Entry(number) for number in range(config.entries)]
        self._entries = config.entries
        self.held: list[Held] = []
        self.columns_stored = 0
        self.counts = Counts() if counts is None else counts
        self._window, self._last_age = config.window, config.window - 1
        self._arrival_delay, self._turnaround = config.arrival_delay, config.turnaround
        self._gated = config.gates_columns
        self._hinted, self._writes_back = config.has_hints, config.writes_back
        # Without rows for transient values every destination gets an entry, and none is evicted for lack of entries.
        self._for_sources, self._may_crowd = 1 - config.has_unallocated, not config.has_unallocated
        self._named: dict[int, Entry] = {}  # entries in use, by register
        self._fetcher = OperandFetcher(delays=config.has_window_delay, selects=config.selects_reads)
        self.request = self._fetcher.request
        """The request to the register file."""
        self._passing = 0  # the word of the operand that arrives in this cycle, if it passes the storage
        self._lost = LostValues()
        self._shown: Sequence[int] | None = None  # of this state, if it has been computed
        self.asked = True
        """The request, and whether an instruction is ready, may have changed at the end of the last cycle with events.
        """
        self._settle_entries()
        self._settle_operands()

    # ------------------------------------------------------------------ wires

    def _settle_entries(self) -> None:
        """Find the entries that may be replaced, and the one that leaves. The collector is `restless` if an entry will
        leave, or a request begin, at the end of this cycle without any event. It `evicts` if it requests an
        eviction."""
        replaceable, over, last_age = 0, [], self._last_age
        oldest, age = None, -1  # dirty entry that may leave
        for entry in self._named.values():
            if entry.pins:
                continue
            if not entry.dirty:
                if not entry.awaited:
                    replaceable += 1
                if entry.age == last_age and not entry.latched:
                    over.append(entry)
            elif not entry.awaited and entry.age >= age and (  # `in_turn`, which would take longer
                    oldest is None or entry.age > age or entry.index < oldest.index):
                oldest, age = entry, entry.age
        used = self.entries_used = len(self._named)
        self._over = over
        self._available = self._entries - used + replaceable
        leaving = self._leaving = None if oldest is None else self._leave(oldest)
        self._leaves, self.evicts = bool(over), False
        if leaving is not None:
            if leaving.dropped:
                self._leaves = True
            else:
                self.evicts = True
        self.restless = self._leaves or self._fetcher.begins

    def _settle_operands(self) -> None:
        """Find the request, and whether the oldest instruction has all its operands: it is `ready`."""
        self._fetcher.settle(self.held)
        self.restless = self._leaves or self._fetcher.begins
        self.ready = bool(self.held)
        if self.ready:
            for entry in self.held[0].entries:
                if entry.wanted or (entry.arriving and (self._arrival_delay or not self._fetcher.comes)):
                    self.ready = False

    def _leave(self, oldest: Entry) -> Leaving | None:
        slid = oldest.age == self._last_age
        if slid or (self._may_crowd and not self.held and self._available < NOT_CROWDED):
            return named(Leaving, (oldest.index, slid and oldest.transient, slid))
        return None

    def available(self, dispatched: bool = False) -> list[int]:
        """Entries that an instruction may take over, in that order. `dispatched`: the oldest instruction leaves in this
        cycle."""
        return [entry.index for entry in self._available_if(dispatched)]

    def _available_if(self, dispatched: bool) -> Sequence[Entry]:
        replaceable = [entry for entry in self._named.values() if not (entry.pins or entry.dirty or entry.awaited)]
        replaceable += self._released(dispatched)
        return [entry for entry in self.entries if not entry.used] + sorted(replaceable, key=in_turn)

    def _for_take(self, dispatched: bool) -> Sequence[Entry]:
        """The entries that an instruction may take over, in that order: all of them, or as many as it may need."""
        if self._entries - len(self._named) < MOST_NEEDED:
            return self._available_if(dispatched)
        return [entry for entry in self.entries if not entry.used]

    def _released(self, dispatched: bool) -> Sequence[Entry]:
        """The entries that may be replaced because the oldest instruction, which alone reads them, leaves."""
        if not dispatched or self._turnaround:
            return ()
        pinned: Counter[int] = Counter(entry.index for entry in self.held[0].entries)
        read = [self.entries[index] for index in pinned]
        return [entry for entry in read
                if entry.pins == pinned[entry.index] and not entry.dirty and not entry.awaited]

    def free_entries(self, blocked: int, dispatched: bool = False) -> int:
        """0, the warp may not issue, or one more than the registers that its next instruction may read. `blocked`: an
        eviction of the warp is pending; `dispatched`: the oldest instruction leaves in this cycle."""
        if blocked:
            return 0
        held, available = len(self.held), self._available
        if dispatched:
            held -= not self._turnaround
            available += len(self._released(dispatched))
        if held == self._window:
            return 0
        free = available + self._for_sources
        return free if free < MOST_FREE else MOST_FREE  # faster than `min`

    def forward(self, word: int) -> None:
        """The operand that arrives in this cycle passes the storage, and may be dispatched at once."""
        self._passing = word

    @property
    def fields(self) -> DispatchFields:
        """The oldest instruction: fields of the issue port, and address and metadata of its destination."""
        return self.held[0].fields

    def operands(self) -> tuple[int, int, int]:
        """The operands of the oldest instruction, if it is ready."""
        fields, words = self.held[0].fields, [0, 0, 0]
        for slot, entry in enumerate(self.held[0].slots):
            if entry is not None:
                words[slot] = merge(entry.word, self._passing, entry.arriving) if entry.arriving else entry.word
            elif fields["imm_slot"] == slot:
                words[slot] = broadcast(fields["imm"])
        return words[0], words[1], words[2]

    def known_zero(self) -> tuple[int, int, int]:
        """The lanes of each operand of the oldest instruction that are zero."""
        a, b, c = (ALL_LANES & ~nonzero_lanes(word) for word in self.operands())
        return a, b, c

    @property
    def columns(self) -> int:
        """Columns of the operand registers that take the oldest instruction's operands."""
        count: int = self.fields["lanes"].bit_count() if self._gated else LANES
        return 3 * count

    def lookup(self, register: int) -> Entry | None:
        """The entry that names a register."""
        return self._named.get(register)

    def delivers(self, register: int, to_collector: bool) -> bool:
        """Whether a result at the input of its latch will be delivered; `to_collector` is its hint, if there
        are any."""
        entry = self._named.get(register)
        if entry is None:
            return False
        return not self._hinted or to_collector or entry.dirty != 0

    def leaving(self) -> Leaving | None:
        """The dirty entry that leaves in this cycle if no instruction is taken in it: it is dropped, or its eviction is
        requested."""
        return self._leaving

    def observe(self) -> Sequence[int]:
        """The number of held instructions, and masks over the entries: in use, with wanted lanes, with dirty lanes."""
        if self._shown is None:
            self._shown = self._state()
        return self._shown

    def _state(self) -> Sequence[int]:
        used = wanted = dirty = 0
        for entry in self._named.values():
            bit = 1 << entry.index
            used |= bit
            wanted |= bit if entry.wanted else 0
            dirty |= bit if entry.dirty else 0
        return len(self.held), used, wanted, dirty

    # ------------------------------------------------------------------ the end of a cycle

    def clock(self, events: Events) -> bool:
        """The end of a cycle. Returns whether a wire may change."""
        self._shown = None
        take, arriving_word, dispatched, delivery = (
            events.take, events.arriving_word, events.dispatched, events.delivery)
        if arriving_word is not None:
            self._arrive(arriving_word)
        asks = self._fetcher.ask(granted=events.granted) if events.granted or self._fetcher.begins else False
        available = self._for_take(dispatched) if take is not None else ()
        if dispatched:
            for entry in self.held.pop(0).entries:
                entry.pins -= 1
        freed = False
        for result in events.coming:
            freed |= self._come(result)
        if delivery is not None:
            self._deliver(delivery)
        if take is not None:
            self._take(take, available)
        elif self._leaving is not None:
            self._let_go(self._leaving, events.evicted)
        for entry in self._over:
            if entry.age == self._last_age and not entry.latched:  # not named, no result that has just come
                self._free(entry)
        moved = False  # only operands came, or results that are awaited
        if dispatched or freed or take is not None or delivery is not None or self._leaving is not None or self._over:
            moved = True
            self._settle_entries()
        if events.read:
            self._fetcher.read()
        asked = self.asked = dispatched or asks or take is not None or arriving_word is not None or events.read
        if asked:
            self._settle_operands()
        return moved or asked

    def _arrive(self, word: int) -> None:
        entry = self._fetcher.arrives()
        entry.word = merge(entry.word, word, entry.arriving)
        self._store(entry, entry.arriving)
        entry.arriving = 0

    def _come(self, result: Coming) -> bool:
        """A result is at the input of its latch. Returns whether its entry is free now, as the result goes past it."""
        entry = self._named.get(result.register)
        if result.deliver:
            assert entry is not None and entry.awaited, "a result for an entry that does not await it"
            entry.latched = True
        elif entry is not None:
            self._free(entry)
            return True
        return False

    def _deliver(self, result: Delivery) -> None:
        entry, lanes = self._named[result.register], result.lanes
        entry.word = merge(entry.word, result.data, lanes)
        self._store(entry, lanes)
        entry.awaited = entry.latched = False
        if self._writes_back:
            if entry.dirty:
                entry.transient = entry.transient and result.transient
            else:
                entry.full, entry.transient = result.full, result.transient
            entry.dirty |= lanes

    def _store(self, entry: Entry, lanes: int) -> None:
        entry.valid |= lanes
        self.columns_stored += lanes.bit_count() if self._gated else LANES

    def _let_go(self, leaving: Leaving, evicted: bool) -> None:
        entry = self.entries[leaving.entry]
        if leaving.dropped:
            assert not evicted, "the eviction of an entry that is dropped"
            self._lost.dropped(entry.register, entry.dirty)
            self.counts.dropped += 1
            self._free(entry)
        elif evicted:
            if leaving.slid:
                self.counts.slid += 1
            else:
                self.counts.crowded += 1
            self._free(entry)

    def _free(self, entry: Entry) -> None:
        if entry.used:
            entry.used = False
            del self._named[entry.register]

    def drop(self, register: int, lanes: int) -> None:
        """A result that enters its latch is dropped: its value has no row, and no entry awaits it."""
        self._lost.dropped(register, lanes)
        self.counts.dropped += 1

    # ------------------------------------------------------------------ issue

    def _take(self, take: Taken, available: Sequence[Entry]) -> None:
        fields = take.fields
        reads = fields["reads"]
        sources = (fields["src0"] if reads & 1 else None, fields["src1"] if reads & 2 else None,
                   fields["src2"] if reads & 4 else None)
        self._lost.taken(fields, sources)
        if fields["first"]:
            self._forget()
            available = self.entries
        if not fields.get("aside"):
            last_age = self._last_age
            for entry in self._named.values():
                if entry.age < last_age:
                    entry.age += 1
        slots = tuple([
            None if register is None else self._source(take, slot, register, sources, available)
            for slot, register in enumerate(sources)
        ])
        if fields["writes"]:
            self._destination(take, sources, available)
        held = extended(fields.copy(), take.destination, take.stored[-1])
        entries = tuple([entry for entry in slots if entry is not None])
        for entry in entries:
            entry.pins += 1
        self.held.append(named(Held, (held, slots, entries)))

    def _forget(self) -> None:
        """Empty all entries: they belong to the previous warp of the slot."""
        for entry in list(self._named.values()):
            self.counts.ended += entry.dirty != 0
            self._free(entry)

    def _source(
        self, take: Taken, slot: int, register: int, sources: Sequence[int | None], available: Sequence[Entry]
    ) -> Entry:
        """The entry that serves a slot, which reads the register."""
        fields = take.fields
        entry = self._named.get(register)
        if entry is None:
            entry = next_available(available, sources, fields["dst"] if fields["writes"] else None)
            assert entry is not None, "an instruction for which there are no free entries"
            self._start(entry, register)
        self._name(entry, take.sources[slot], take.stored[slot])
        if register in sources[:slot]:
            self.counts.repeated += 1
        elif fields["lanes"] & ~entry.known:
            self.counts.fetched += 1
            entry.wanted |= fields["lanes"] & ~entry.known
        else:
            self.counts.forwarded += 1
        return entry

    def _destination(self, take: Taken, sources: Sequence[int | None], available: Sequence[Entry]) -> None:
        fields, entry = take.fields, self._named.get(take.fields["dst"])
        if entry is None and (not self._hinted or fields["to_collector"]):
            entry = next_available(available, sources, None)
            if entry is not None:
                self._start(entry, fields["dst"])
        if entry is None:
            return
        self._name(entry, take.destination, take.stored[-1])
        if entry.dirty:
            entry.dirty &= ~fields["lanes"]
            self.counts.overwritten += not entry.dirty
        entry.awaited = True

    def _start(self, entry: Entry, register: int) -> None:
        self._free(entry)
        entry.start(register)
        self._named[register] = entry

    def _name(self, entry: Entry, address: Address, stored: StoredFields) -> None:
        """The instruction that is taken names the entry's register."""
        entry.age, entry.address, entry.stored = 0, address, stored
