"""`Ownership`: every row is free, waits to be released, or has exactly one register (docs/contract/renaming.md)."""

from enum import Enum, auto

from warploom.arch.config import SmConfig


class Owner(Enum):
    """What has a row."""

    LIST = auto()
    REGISTER = auto()
    READ = auto()  # its last one, or the sweep


class Ownership:
    """Follows each row from list to register, to its last read, and back. Raises `AssertionError` if another step is
    made: then a row would be free and mapped, or mapped twice."""

    def __init__(self, config: SmConfig) -> None:
        self._owners = [[Owner.LIST] * config.rows for _ in range(config.banks)]

    def given(self, bank: int, row: int) -> None:
        """A list gives the row to a register."""
        self._moves(bank, row, Owner.LIST, Owner.REGISTER)

    def dropped(self, bank: int, row: int) -> None:
        """The register no longer has it."""
        self._moves(bank, row, Owner.REGISTER, Owner.READ)

    def entered(self, bank: int, row: int) -> None:
        """It enters a list."""
        self._moves(bank, row, Owner.READ, Owner.LIST)

    def _moves(self, bank: int, row: int, owner: Owner, other: Owner) -> None:
        found = self._owners[bank][row]
        assert found is owner, f"row {row} of bank {bank} goes to {other.name}, and {found.name} has it"
        self._owners[bank][row] = other
