"""`Sweep`: unmaps the registers of warps that have ended (docs/contract/renaming.md, *Ended warps*)."""

from collections.abc import Collection, Sequence

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Layout
from warploom.golden_model.masks import lowest
from warploom.golden_model.renaming.lists import Lists
from warploom.golden_model.renaming.ownership import Ownership
from warploom.golden_model.renaming.table import Table


class Sweep:
    """Steps over the virtual rows of one warp slot after the other, all banks at once. `sweeping` is the mask of slots
    that still have registers; `stride` the number of virtual rows of a warp in a bank that holds it."""

    observed = ("sweeping",)

    def __init__(self, config: SmConfig, stride: int, table: Table, lists: Lists, ownership: Ownership) -> None:
        self.sweeping = 0
        self._banks, self._stride, self._by_warp = config.banks, stride, config.layout is Layout.WID
        self._table, self._lists, self._ownership = table, lists, ownership
        self._slot: int | None = None  # the one that has been begun
        self._steps = 0  # those made of it
        self._found: Sequence[tuple[int, int]] = ()  # bank and virtual row of the step of the cycle before
        self._waiting: dict[int, int] = {}  # by bank, a row that has not entered its list

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to do."""
        return not self.sweeping

    def clock(self, *, retired: int, offered: bool, released: Collection[int]) -> None:
        """The end of a cycle: warps of these slots have retired, an instruction is offered or not, and read rows enter
        lists of these banks."""
        if self.sweeping:
            self._unmap()
            may_step = not (self._waiting or offered)
            for bank, row in [*self._waiting.items()]:
                if bank not in released:
                    del self._waiting[bank]
                    self._ownership.entered(bank, row)
                    self._lists.release(bank, row, 0)
            if self._slot is not None and self._steps == self._stride:
                self._end()
            elif may_step:
                self._step()
        self.sweeping |= retired

    def _unmap(self) -> None:
        """The registers that the step found are unmapped, and their rows wait."""
        for bank, virtual in self._found:
            row = self._table.row(bank, virtual)
            assert row is not None, "a register of an ended warp has lost its row"
            self._table.unmap(bank, virtual)
            self._ownership.dropped(bank, row)
            self._waiting[bank] = row
        self._found = ()

    def _step(self) -> None:
        """Read the next virtual row of each bank."""
        if self._slot is None:
            self._slot = lowest(self.sweeping)
        place, banks = self._slot, range(self._banks)
        if self._by_warp:
            place, bank = divmod(self._slot, self._banks)
            banks = range(bank, bank + 1)
        virtual = place * self._stride + self._steps
        self._found = [(bank, virtual) for bank in banks if self._table.row(bank, virtual) is not None]
        self._steps += 1

    def _end(self) -> None:
        """The slot's last step has been made: it ends unless a row waits."""
        if not self._waiting:
            assert self._slot is not None
            self.sweeping &= ~(1 << self._slot)
            self._slot, self._steps = None, 0

    def observe(self) -> Sequence[int]:
        """The slots that still have registers."""
        return (self.sweeping,)
