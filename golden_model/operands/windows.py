"""`WindowStore`: a collector for each warp, with a window of its instructions (docs/contract/operands.md)."""

from collections import defaultdict
from collections.abc import Sequence
from typing import cast

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.bypass.counts import Counts
from warploom.golden_model.bypass.dispatch import InTurn
from warploom.golden_model.bypass.entries import NO_EVENT, Coming, Delivery, Events, Request, Taken
from warploom.golden_model.bypass.eviction import EvictionUnit
from warploom.golden_model.bypass.wires import Wires
from warploom.golden_model.dispatch import Chosen, Dispatcher
from warploom.golden_model.inputs import WarpEvents
from warploom.golden_model.masks import lowest
from warploom.golden_model.named import named
from warploom.golden_model.observation import Gathered
from warploom.golden_model.pipelined.selection import ReadSelection
from warploom.golden_model.placement import Address
from warploom.golden_model.records import IssueFields, Result
from warploom.golden_model.register_file.ports import Read, RegisterFile


class WindowStore:
    """Bypassing collectors, on any register file. The store has the same ports as
    `warploom.golden_model.operands.slots`.

    A collector without events in a cycle takes no time to simulate. `free_entries` is a wire, by warp. Asserts that no
    access to the register file is to a register that has no row: those with numbers from `registers` on. `delivers`
    says of each latch whether its result will be delivered.
    """

    acts = True
    address_ready = 0
    granted: Sequence[tuple[int, int]] = ()

    def __init__(self, config: SmConfig, register_file: RegisterFile, registers: int) -> None:
        self._file, self._counted = register_file, Counts()
        self._selection = ReadSelection(config, register_file) if config.selects_reads else None
        self._banks = register_file if self._selection is None else self._selection
        self._order = InTurn(len(config.dispatch_ports))
        self.dispatcher = Dispatcher(config, self._order)
        self.collectors = self.holders = [
            BypassingCollector(config, index, self._counted) for index in range(config.collectors)
        ]
        self.evictions = EvictionUnit(config.has_window_delay)
        self._wires = Wires(config)
        self.free_entries, self.free = self._wires.free_entries, self._wires.free
        self._events: defaultdict[int, Events] = defaultdict(Events)  # of this cycle, by collector
        self._words: list[tuple[int, int]] = []  # collector and word of the grants one cycle before
        self._open, self._closed = (config.issue_ports,), (0,)
        (self._mem,) = config.numbers(Pipe.MEM)
        self.delivers = [False] * len(config.pipes)
        self._hinted, self._writes_back = config.has_hints, config.writes_back
        self._drops, self.registers = config.has_unallocated, registers
        self._passes, self._delays, self._turnaround = (
            config.passes_storage, config.dispatch_delay, config.turnaround)
        self._leaving: Chosen = ()  # with a dispatch delay, what was chosen in the previous cycle
        self._blocked = self._taking = 0  # masks of collectors: an eviction is pending, an instruction is taken
        self._used = [(0, 0)] * config.warps  # by collector: entries in use, and since when
        evictions = {"evict": self.evictions} if self._writes_back else {}
        self._parts = Gathered(self.dispatcher, self._selection, collector=self.collectors, **evictions)
        self.observed, self.observe = self._parts.observed, self._parts.observe
        for warp in range(config.warps):
            self._observe(warp)

    # ------------------------------------------------------------------ wires

    @property
    def free_collectors(self) -> Sequence[int]:
        """How many instructions may be issued: one of each port, if there is a warp that may."""
        return self._open if self.free[0] else self._closed

    def takes(self, fields: IssueFields) -> bool:
        """Whether an instruction on its issue port is taken."""
        return self.free[0] != 0

    def hold_back(self) -> int:
        """The mask of latches that wait for others: for their path, or for the result port of a collector."""
        writeback = self._file.writeback
        if writeback.held < 2:
            return 0
        mask, served = 0, set()  # warps to whose collectors a path delivers
        for path in self._file.arbiter.order:
            first = True
            for writer in path:
                latch = writeback.latches[writer]
                if latch is not None and latch["writes"]:
                    if not first:
                        mask |= 1 << writer
                    elif self.delivers[writer]:
                        if latch["warp"] in served:
                            mask |= 1 << writer
                        served.add(latch["warp"])
                    first = False
        return mask

    def completed(self, done: list[Result | None]) -> list[Result | None]:
        """The completions of instructions, by writer: all except those of evictions."""
        if self.evictions.latched and done[self._mem] is not None:
            return [*done[: self._mem], None]
        return done

    def choose(self) -> Chosen:
        """What is dispatched in this cycle."""
        if self._passes:
            for collector, word in self._words:
                self.collectors[collector].forward(word)
        if self._delays:
            leaving = self._leaving
            self._choose_next()
        else:
            leaving = self._choose(self._wires.ready)
        if not self._turnaround:
            for _, index in leaving:
                self._wires.dispatches(self.collectors[index], self._blocked >> index & 1)
        return leaving

    def _choose(self, ready: Sequence[int]) -> Chosen:
        return self._order.choose(self.dispatcher, ready, self.collectors)

    def _choose_next(self) -> None:
        """What is dispatched in the next cycle: nothing from collectors that an instruction leaves in this one."""
        others = ~sum(1 << index for _, index in self._leaving)
        self.dispatcher.chosen = [(port, index, self.collectors[index].fields)
                                  for port, index in self._choose([mask & others for mask in self._wires.ready])]

    @property
    def quiet(self) -> bool:
        """Whether no operand is requested or arriving, and no collector changes by itself."""
        wires = self._wires
        return not (self._words or self.dispatcher.chosen or wires.requests or wires.evicting or wires.restless
                    or self.evictions.held)

    @property
    def counts(self) -> Counts:
        """Events since reset."""
        for index in range(len(self.collectors)):
            self._count_entries(index)
        return self._counted

    # ------------------------------------------------------------------ the end of a cycle

    def issue(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> None:
        """An instruction is taken, with the addresses of its registers."""
        form = self._file.form
        stored = [form.fields(metadata) for metadata in self._file.lookup(fields, sources, destination)]
        self._taking |= 1 << fields["warp"]
        self._events[fields["warp"]].take = named(Taken, (fields, sources, destination, stored))

    def release(self, index: int) -> None:
        """The oldest instruction of a collector is dispatched."""
        self._events[index].dispatched = True

    def read(self) -> None:
        """Words read in the previous cycle arrive; requests are granted."""
        for index, word in self._words:
            self._events[index].arriving_word = word
        restore, granted = self._file.form.restore, self._file.grants()
        self._words = [(index, restore(word, read.metadata)) for index, read, word in granted]
        clients: Sequence[int] = [index for index, _, _ in granted]
        if self._selection is not None:
            for index in clients:
                self._events[index].read = True
            clients = self._selection.select(clients)
        for index in clients:
            self._events[index].granted = True

    def results(
        self, done: Sequence[Result | None], results: Sequence[Result | None], refused: Sequence[Result]
    ) -> Sequence[Result | None]:
        """Results complete, and others, perhaps an eviction, enter their latches. Those that are refused are looked up,
        too."""
        writeback = self._file.writeback
        if writeback.held:
            self._deliver(done)
        evicts = self._wires.evicting or self.evictions.blocked
        evicted = self._evict(results[self._mem]) if evicts else None
        writeback.unwritten = 0
        for result in refused:
            if result["writes"]:
                self._look_up(result)
        if any(results):
            self._enter(results)
        return results if evicted is None else [*results[: self._mem], evicted]

    def clock(self, warps: WarpEvents) -> None:
        """The end of the cycle: its events reach the collectors."""
        wires, events, blocked = self._wires, self._events, self.evictions.blocked
        if self._delays:
            self._leaving = [(port, index) for port, index, _ in self.dispatcher.chosen or ()]
        turned = blocked ^ self._blocked
        changing = wires.restless | turned
        while changing:
            events.setdefault(lowest(changing), NO_EVENT)
            changing &= changing - 1
        self._blocked = blocked
        if events:
            for index, happens in events.items():
                if self.collectors[index].clock(happens) or turned >> index & 1:
                    self._observe(index)
            events.clear()
            self._taking = 0

    def _observe(self, index: int) -> None:
        """A collector has changed."""
        collector, wires = self.collectors[index], self._wires
        wires.observe(collector, self._blocked >> index & 1)
        if collector.asked:
            request = collector.request()
            if request is not None:
                wires.requests[index] = request
                self._request(index, request)
            elif wires.requests.pop(index, None) is not None:
                self._banks.request(index, {})
        if collector.entries_used != self._used[index][0]:
            self._count_entries(index)

    def _count_entries(self, index: int) -> None:
        used, since = self._used[index]
        self._counted.occupancy[used] += self.dispatcher.cycle - since
        self._used[index] = self.collectors[index].entries_used, self.dispatcher.cycle

    def _request(self, index: int, request: Request) -> None:
        """Set a collector's request from the next cycle on."""
        form, metadata = self._file.form, self._file.form.of(request.stored)
        self._check_row(index, self.collectors[index].entries[request.entry].register)
        (columns,) = form.needed(request.lanes, [metadata])
        read = named(Read, (request.entry, request.address, metadata, columns))
        self._banks.request(index, {form.ports(request.address, metadata)[0]: read})

    def _deliver(self, done: Sequence[Result | None]) -> None:
        """Results that complete reach their collectors."""
        for writer, result in enumerate(done):
            if result is not None and self.delivers[writer]:
                self.delivers[writer] = False
                self._events[result["warp"]].delivery = named(Delivery, (
                    result["dst"], result["data"], result["lanes"], bool(result["full"]),
                    self._hinted and not result["to_file"]))

    def _look_up(self, result: Result) -> bool:
        """Look up the destination of a result at the input of its latch. Returns whether it will be delivered."""
        collector = self.collectors[result["warp"]]
        delivers = collector.delivers(result["dst"], bool(result.get("to_collector", 1)))
        if collector.lookup(result["dst"]) is not None:
            events = self._events[result["warp"]]
            events.coming = [*events.coming, named(Coming, (result["dst"], delivers))]
        return delivers

    def _enter(self, results: Sequence[Result | None]) -> None:
        """Results enter their latches."""
        for writer, result in enumerate(results):
            if result is not None and result["writes"]:
                delivers = self.delivers[writer] = self._look_up(result)
                if delivers and self._writes_back:
                    self._file.writeback.unwritten |= 1 << writer
                elif self._drops and not result["to_file"]:
                    self._file.writeback.unwritten |= 1 << writer
                    self.collectors[result["warp"]].drop(result["dst"], result["lanes"])
                    continue
                else:
                    self._check_row(result["warp"], result["dst"])
                self._counted.enters(delivers, written=not (delivers and self._writes_back))

    def _check_row(self, warp: int, register: int) -> None:
        assert not self._drops or register < self.registers, (
            f"an access to R{register} of warp {warp}, which has no row")

    def _evict(self, mem: Result | None) -> Result | None:
        """Evictions move on. Returns the one that enters the latch of MEM, unless `mem` does."""
        unit, requests = self.evictions, self._wires.evicting & ~self._taking
        ready = self._file.ready[self._mem]
        entering = unit.enters(ready, mem is not None)
        evicted = unit.held if entering else None
        selected = unit.select(requests, entering)
        unit.step(selected, None if selected is None else self._eviction(selected), entering=entering, ready=ready)
        return evicted

    def _eviction(self, index: int) -> Result:
        """The entry that leaves a collector, in the form of a result."""
        collector = self.collectors[index]
        leaving = collector.leaving()
        assert leaving is not None
        self._events[index].evicted = True
        entry = collector.entries[leaving.entry]
        self._check_row(index, entry.register)
        return cast(Result, {
            "tag": 0, "writes": 1, "warp": index, "dst": entry.register, **entry.address._asdict(), **entry.stored,
            "lanes": entry.dirty, "full": int(entry.full), "pred": 0, "data": entry.word,
        })
