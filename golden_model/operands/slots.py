"""`SlotStore`: collectors with a slot for each source, for instructions of any warp (docs/contract/operands.md)."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import address_names
from warploom.arch.isa import Op
from warploom.golden_model.dispatch import Chosen, Dispatcher, OldestFirst
from warploom.golden_model.front_end.decisions import ALL_FREE
from warploom.golden_model.inputs import WarpEvents
from warploom.golden_model.observation import Gathered
from warploom.golden_model.placement import Address
from warploom.golden_model.records import SOURCES, IssueFields, Result
from warploom.golden_model.register_file.ports import Grant, RegisterFile
from warploom.golden_model.sharing import BySchedulers

_LD = int(Op.LD)


class SlotStore:
    """The lowest-numbered free collector of a set takes an instruction. Address slots, one for each issue port, are the
    last holders and take loads that read no register of the register file.

    `granted` lists the (warp, register) pairs granted in this cycle, if this may let others issue. `free[k]` is
    the mask of warps that may issue an instruction that reads k different registers (0 to 3), if there is a free
    collector for it.
    """

    counts = None
    acts = False

    def __init__(self, config: SmConfig, register_file: RegisterFile, collector: Callable[[int], Any]) -> None:
        self.dispatcher = Dispatcher(config, BySchedulers(config) if config.shares_pipes else OldestFirst())
        self.holders = [collector(index) for index in range(config.holders)]
        self.collectors = self.holders[: config.collectors]
        self.granted: Sequence[tuple[int, int]] = ()
        self.free: Sequence[int] = ALL_FREE
        self._grants, self._lookup, self._request = register_file.grants, register_file.lookup, register_file.request
        self._arrival_delay, self._turnaround = config.arrival_delay, config.turnaround
        self._addresses = self.holders[config.collectors :]
        self._all = (1 << config.collectors) - 1  # without the address slots
        self._free = self._all  # collectors that may take an instruction
        sets = [sum(1 << collector for collector in numbers) for numbers in config.collector_sets]
        self._count_of = lru_cache(1 << 12)(lambda free: [(free & collectors).bit_count() for collectors in sets])
        self._serving = [sets[config.collector_set(pipe.kind)] for pipe in config.pipes]
        self._taken: list[int] = []  # holders that take an instruction in this cycle
        self.arriving: Sequence[Grant] = ()
        self._parts = Gathered(self.dispatcher, collector=self.collectors)
        self.observed = (*self._parts.observed, *([f"{name}_busy" for name in address_names(config)]))

    # ------------------------------------------------------------------ wires

    @property
    def free_collectors(self) -> Sequence[int]:
        """The number of collectors of each set that can take an instruction."""
        return self._count_of(self._free)

    @property
    def address_ready(self) -> int:
        """The mask of issue ports whose address slot takes an instruction."""
        return sum((not slot.busy) << port for port, slot in enumerate(self._addresses))

    def takes(self, fields: IssueFields) -> bool:
        """Whether an instruction on its issue port is taken, after those before it in claim order."""
        if self._addresses and self._is_addressed(fields):
            return not self._slot(fields).busy
        return self._free & self._serving[fields["pipe"]] != 0

    def choose(self) -> Chosen:
        """What is dispatched in this cycle."""
        if not self._arrival_delay:
            for client, read, word in self.arriving:
                self.holders[client].capture(read, word)
        chosen = self.dispatcher.select(self.holders)
        if not self._turnaround:
            for _, index in chosen:
                self._free |= 1 << index & self._all
        return chosen

    def hold_back(self) -> int:
        """The mask of write latches that wait for others: none does."""
        return 0

    def completed(self, done: list[Result | None]) -> list[Result | None]:
        """The completions of instructions, by writer: all."""
        return done

    @property
    def quiet(self) -> bool:
        """Whether no operand is requested or arriving."""
        return not self.arriving

    def _is_addressed(self, fields: IssueFields) -> bool:
        """Whether an instruction goes to the address slot of its port."""
        return fields["op"] == _LD and not fields["reads"]

    def _slot(self, fields: IssueFields) -> Any:
        """The address slot of an instruction's port."""
        return self._addresses[fields["warp"] % len(self._addresses)]

    # ------------------------------------------------------------------ the end of a cycle

    def issue(self, fields: IssueFields, sources: tuple[Address, ...], destination: Address) -> None:
        """An instruction is taken, with the addresses of its registers."""
        if self._addresses and self._is_addressed(fields):
            holder = self._slot(fields)
            index = holder.index
        else:
            free = self._free & self._serving[fields["pipe"]]
            index = (free & -free).bit_length() - 1
            holder = self.holders[index]
            self._free ^= 1 << index
        holder.issue(fields, sources, destination, self._lookup(fields, sources, destination))
        if holder.waiting:
            self._request(index, holder.requests())
        self._taken.append(index)

    def read(self) -> None:
        """Words granted in the cycle before arrive; requests are granted."""
        holders = self.holders
        for client, read, word in self.arriving:
            holder = holders[client]
            if self._arrival_delay:
                holder.capture(read, word)
            holder.store()
        arriving = self.arriving = self._grants()
        if not arriving:
            self.granted = ()
            return
        granted: list[tuple[int, int]] = []
        self.granted, renewing = granted, False
        for client, read, _ in arriving:
            holder = holders[client]
            if holder.grant(read):
                fields = holder.fields
                granted.append((fields["warp"], fields[SOURCES[read.key]]))
            if holder.renews:
                renewing = True
        if renewing:
            for client, _, _ in arriving:
                if holders[client].waiting and holders[client].renews:
                    self._request(client, holders[client].requests())

    def results(
        self, done: Sequence[Result | None], results: Sequence[Result | None], refused: Sequence[Result]
    ) -> Sequence[Result | None]:
        """Results complete, others enter their latches: as they come."""
        return results

    def release(self, index: int) -> None:
        """A holder's instruction is dispatched; the holder may have taken the next one already."""
        if index in self._taken:
            return
        self.holders[index].release()
        self._free |= 1 << index & self._all

    def clock(self, warps: WarpEvents) -> None:
        """The cycle ends: of the instructions taken in it, that of the lowest holder counts as the oldest."""
        taken = self._taken
        if taken:
            if len(taken) > 1:
                taken.sort()
            for index in taken:
                self.dispatcher.issued(index)
            taken.clear()

    # ------------------------------------------------------------------ observation

    def observe(self) -> Sequence[int]:
        """The collectors, and whether the address slots are busy."""
        return [*self._parts.observe(), *[slot.busy for slot in self._addresses]]
