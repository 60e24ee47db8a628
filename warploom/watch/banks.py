"""Banks of a trace: a slice for each granted request."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from warploom.golden_model.observation import Part
from warploom.golden_model.placement import owners
from warploom.golden_model.sm import Sm
from warploom.watch.flights import Living
from warploom.watch.perfetto import Writer
from warploom.watch.tracks import Lanes

_ENABLE = "_enable"


class Access(NamedTuple):
    """An access that a bank shows: whether it writes, its row, and the client that reads or the writer."""

    write: bool
    row: int
    who: int


class Banks:
    """The requests are counted by the register file; which register they are for, and for which instruction, follows
    from what it shows. A register file that shows nothing has slices without these annotations. With renaming a row is
    that of the register that got it last. `living` are the instructions in flight."""

    def __init__(self, sm: Sm, writer: Writer, root: int, living: Mapping[int, Living]) -> None:
        self._writer, self._living = writer, living
        self._file = sm.datapath.register_file
        banks = writer.track("banks", root)
        self._banks = [Lanes(writer, f"bank {bank}", banks) for bank in range(sm.config.banks)]
        self._reads, self._writes = [*self._file.bank_reads], [*self._file.bank_writes]
        self._cycle = 0
        self._shown: dict[int, list[tuple[bool, list[Any]]]] = {}
        self._part = self._file if isinstance(self._file, Part) else None
        names = self._part.observed if self._part is not None else ()
        self._ports = [(int("".join(filter(str.isdigit, name))), place) for place, name in enumerate(names)
                       if name.startswith("bank") and name.endswith(_ENABLE)]
        self._registers = {**owners(sm.config, sm.trace.program.registers)} if self._ports else {}

    def see(self, sm: Sm, cycle: int) -> None:
        """A cycle, after the last one: the counters of the register file have the requests of that one."""
        self.settle()
        self._cycle = cycle
        self._shown = {}
        if self._part is not None and not self._file.quiet:
            self._look(sm, self._part.observe())
        stage = sm.datapath.renaming
        if stage is not None and stage.placed is not None:
            fields, address = stage.placed
            self._registers[address.bank, address.row] = fields["warp"], fields["dst"]

    def settle(self) -> None:
        """Write the requests of the last cycle that was seen."""
        reads, writes = self._file.bank_reads, self._file.bank_writes
        if reads == self._reads and writes == self._writes:
            return
        for bank, lanes in enumerate(self._banks):
            granted = [False] * (reads[bank] - self._reads[bank]) + [True] * (writes[bank] - self._writes[bank])
            shown = self._shown.get(bank, [])
            if sorted(write for write, _ in shown) != granted:
                shown = [(write, []) for write in granted]
            for write, annotations in shown:
                lanes.add((self._cycle, self._cycle + 1), "write" if write else "read", "bank", annotations)
        self._reads, self._writes = [*reads], [*writes]

    def _look(self, sm: Sm, values: Sequence[int]) -> None:
        """Keep what the banks show: for each access its register, and the instruction that it is for."""
        for bank, place in self._ports:
            enable, write, row, who = values[place : place + 4]
            if enable:
                slot, register = self._registers.get((bank, row), (-1, -1))
                living = self._for(sm, slot, register, Access(bool(write), row, who))
                annotations = [*living.annotations] if living else []
                if slot >= 0:
                    annotations.append(self._writer.annotation("register", f"R{register} of warp slot {slot}"))
                self._shown.setdefault(bank, []).append((bool(write), annotations))

    def _for(self, sm: Sm, slot: int, register: int, access: Access) -> Living | None:
        """The instruction in flight that reads or writes a register of a warp slot."""
        if not access.write and not sm.config.has_window:
            return self._living.get(sm.datapath.operands.holders[access.who].fields["tag"])
        code = sm.trace.program.instructions
        for living in self._living.values():
            if living.slot == slot:
                instruction, waits = code[living.pc], living.dispatched < 0
                if (instruction.dst == register and not waits) if access.write else (
                        register in instruction.sources and waits):
                    return living
        return None
