"""The interface of stored forms."""

from collections.abc import Sequence
from typing import Any, Protocol

from amaranth import Module, Value
from amaranth.lib import wiring

from warploom.rtl.register_file.forms.rows import Metadata, Row
from warploom.rtl.register_file.paths import Carried, Entering


class Form(Protocol):
    """A stored form of warp registers: the only code that depends on the meaning of the stored bytes."""

    @property
    def row(self) -> Row:
        """The positions of its bytes in a row."""

    def tables(self) -> dict[str, wiring.Component]:
        """Tables of the metadata of each register, by the name of the part of the metadata
        (`warploom.rtl.ports.metadata`)."""

    def renew(self, m: Module, platform: object, entering: Sequence[Entering]) -> list[Carried]:
        """Compute, for each latch while a result enters it, the new metadata of its register."""

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        """Convert the word and the lanes of a write path to the stored data and bytes."""

    def needed(self, lanes: Value, early: Metadata, late: Metadata) -> Value:
        """The columns that some of these lanes read, if columns are enabled one by one."""

    def restorer(self) -> Any:
        """The unit that restores the plain word; None if it is stored plain."""
