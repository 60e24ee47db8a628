"""`Table`: the row in which each register of a bank is (docs/contract/renaming.md, *What is where*)."""

from collections.abc import Iterator

from warploom.arch.config import SmConfig


class Table:
    """For each bank the rows of its virtual rows, those that are mapped."""

    def __init__(self, config: SmConfig) -> None:
        self._rows: list[dict[int, int]] = [{} for _ in range(config.banks)]

    def row(self, bank: int, virtual: int) -> int | None:
        """The row of a virtual row; `None` if it is not mapped."""
        return self._rows[bank].get(virtual)

    def assign(self, bank: int, virtual: int, row: int) -> None:
        """It is mapped to this row."""
        self._rows[bank][virtual] = row

    def unmap(self, bank: int, virtual: int) -> None:
        """It is no longer mapped, if it was."""
        self._rows[bank].pop(virtual, None)

    def mapped(self) -> Iterator[tuple[int, int, int]]:
        """Bank, virtual row and row of all that are mapped."""
        for bank, rows in enumerate(self._rows):
            for virtual, row in rows.items():
                yield bank, virtual, row
