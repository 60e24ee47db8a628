"""`SlotStore`: collectors with a slot for each source, for instructions of any warp (docs/contract/operands.md)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.golden_model.dispatch import Chosen, Dispatcher, OldestFirst
from warploom.golden_model.observation import Gathered
from warploom.golden_model.operands.collector import SOURCES
from warploom.golden_model.placement import Address
from warploom.golden_model.register_file.ports import Grant, Port, Read, RegisterFile
from warploom.golden_model.writeback import Result

_NOTHING: Mapping[Port, Read] = {}
_ALL_FREE = (-1,) * (len(SOURCES) + 1)


class SlotStore:
    """The lowest-numbered free collector takes an instruction. Where the configuration has an address slot, it is the
    last of the holders and takes loads that read no register of the register file.

    `granted` lists the (warp, register) pairs read in the cycle before, where that lets others issue. `free` are the
    masks of warps that may issue an instruction which reads so many different registers, 0 to 3, if `issue_ready`.
    """

    counts = None
    free: Sequence[int] = _ALL_FREE

    def __init__(self, config: SmConfig, register_file: RegisterFile, collector: Callable[[int], Any]) -> None:
        self.dispatcher = Dispatcher(config, OldestFirst())
        self.holders = [collector(index) for index in range(config.holders)]
        self.collectors = self.holders[: config.collectors]
        self.granted: list[tuple[int, int]] = []
        self._file = register_file
        self._address = config.collectors if config.has_address_slot else None
        self._free = (1 << config.collectors) - 1  # collectors that may take an instruction
        self._arriving: Sequence[Grant] = ()
        self._parts = Gathered(self.dispatcher, collector=self.collectors)
        self.observed = (*self._parts.observed, *(["address_busy"] if config.has_address_slot else []))

    # ------------------------------------------------------------------ wires

    @property
    def issue_ready(self) -> bool:
        """A collector takes an instruction."""
        return self._free != 0

    @property
    def address_busy(self) -> bool:
        """An instruction is in the address slot."""
        return self._address is not None and self.holders[self._address].busy

    @property
    def address_ready(self) -> bool:
        """The address slot takes an instruction."""
        return self._address is not None and not self.address_busy

    def takes(self, fields: Mapping[str, Any]) -> bool:
        """Whether the instruction on the issue port is taken."""
        return self.address_ready if self._addresses(fields) else self.issue_ready

    def choose(self) -> Chosen:
        """By dispatch port, the holder that dispatches in this cycle."""
        return self.dispatcher.select(self.holders)

    def hold_back(self) -> int:
        """The mask of write latches that wait for others: none does."""
        return 0

    def completed(self, done: list[Result | None]) -> list[Result | None]:
        """The completions that others are told of, by writer: all."""
        return done

    @property
    def quiet(self) -> bool:
        """No operand is on its way."""
        return not self._arriving

    def _addresses(self, fields: Mapping[str, Any]) -> bool:
        """An instruction goes to the address slot."""
        return self._address is not None and fields["op"] == Op.LD and not fields["reads"]

    # ------------------------------------------------------------------ the end of a cycle

    def issue(self, fields: Mapping[str, Any], sources: Sequence[Address], destination: Address) -> None:
        """An instruction is taken, with the addresses of its registers."""
        index = self._address if self._addresses(fields) else None
        if index is None:
            index = (self._free & -self._free).bit_length() - 1
            self._free &= ~(1 << index)
        holder = self.holders[index]
        holder.issue(fields, sources, destination, self._file.lookup(fields, sources, destination))
        if holder.waiting:
            self._file.request(index, holder.requests())
        self.dispatcher.issued(index)

    def read(self) -> None:
        """Words granted in the cycle before arrive; requests are granted."""
        holders, granted = self.holders, []
        for client, read, word in self._arriving:
            holders[client].capture(read, word)
        self._arriving = self._file.grants()
        for client, read, _ in self._arriving:
            collector = holders[client]
            if collector.grant(read):
                granted.append((collector.fields["warp"], collector.fields[SOURCES[read.key]]))
            self._file.request(client, collector.requests() if collector.waiting else _NOTHING)
        self.granted = granted

    def results(self, done: Sequence[Result | None], results: Sequence[Result | None]) -> Sequence[Result | None]:
        """Results complete, others enter their latches: as they come."""
        return results

    def release(self, index: int) -> None:
        """A holder's instruction is dispatched."""
        self.holders[index].release()
        if index != self._address:
            self._free |= 1 << index

    def clock(self) -> None:
        """The cycle ends: nothing is left to do."""

    # ------------------------------------------------------------------ observation

    def observe(self) -> Sequence[int]:
        """The collectors, and whether the address slot is busy."""
        values = self._parts.observe()
        if self._address is not None:
            values.append(self.address_busy)
        return values
