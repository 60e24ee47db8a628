"""`Storage`: the location of every warp register, before and after a write (docs/contract/register_file.md)."""

from warploom.arch.config import SmConfig
from warploom.arch.program import Hints
from warploom.golden_model.corf.allocation import NOWHERE, Allocator, Location, MaskTable
from warploom.golden_model.corf.rename import RenameTable
from warploom.golden_model.placement import Address


class Storage:
    """Rename table, mask table and free register map together. Registers are named by their physical address in the
    layout `wid`; `stride` is `warploom.arch.layout.rows_per_warp`.

    The sides in `hints` are used only for CORF++ (`sides`). `packs` and `unpacks` count the moves of registers into the
    entry of a partner and out of it.
    """

    def __init__(self, config: SmConfig, stride: int, hints: Hints, *, sides: bool) -> None:
        self.rename, self.masks = RenameTable(), MaskTable()
        self.allocators = [Allocator(config.rows) for _ in range(config.banks)]
        self.packs = self.unpacks = 0
        self._banks, self._rows, self._stride = config.banks, config.rows, stride
        self._partners = dict(hints.pairs) | {second: first for first, second in hints.pairs}
        self._left = hints.left if sides else frozenset()

    def locate(self, address: Address) -> Location:
        """The location of a register."""
        return self._find(*self._name(address))

    def choose(self, address: Address, width: int) -> Location:
        """The new location of a register that is written as a whole, with a width in bytes."""
        warp, register = self._name(address)
        return self.allocators[address.bank].choose(
            width, register in self._left, self._find(warp, register), self._partner(warp, register))

    def move(self, address: Address, to: Location) -> None:
        """The end of the cycle in which the register is written."""
        warp, register = self._name(address)
        own, partner = self._find(warp, register), self._partner(warp, register)
        self.allocators[address.bank].move(own, to)
        self.rename.write(warp, register, address.bank * self._rows + to.row)
        self.masks.write(warp, register, to.mask)
        before, after = (bool(at.mask and partner.mask) and at.row == partner.row for at in (own, to))
        self.packs += after and not before
        self.unpacks += before and not after

    def _name(self, address: Address) -> tuple[int, int]:
        """Warp slot and register number."""
        group, register = divmod(address.row, self._stride)
        return group * self._banks + address.bank, register

    def _find(self, warp: int, register: int) -> Location:
        mask = self.masks.read(warp, register)
        return Location(self.rename.read(warp, register) % self._rows, mask) if mask else NOWHERE

    def _partner(self, warp: int, register: int) -> Location:
        partner = self._partners.get(register)
        return NOWHERE if partner is None else self._find(warp, partner)
