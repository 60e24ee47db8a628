"""What every stored form has."""

from collections.abc import Sequence
from typing import Any, Protocol

from amaranth import Module, Value
from amaranth.lib import wiring

from warploom.rtl.register_file.forms.rows import Metadata, Row
from warploom.rtl.register_file.paths import Carried, Entering


class Form(Protocol):
    """How a register file stores a warp register: the only place that knows what its bytes mean."""

    @property
    def row(self) -> Row:
        """Where its bytes lie."""

    def tables(self) -> dict[str, wiring.Component]:
        """Tables of what is known of each register, by the name of this part of the metadata
        (`warploom.rtl.ports.metadata`)."""

    def renew(self, m: Module, platform: object, entering: Sequence[Entering]) -> list[Carried]:
        """Work out, for each latch while a result enters it, how its register will be stored."""

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        """What a path brings to its bank, as that stores it, instead of its word and its lanes."""

    def needed(self, lanes: Value, early: Metadata, late: Metadata) -> Value:
        """The columns that some of these lanes read, where columns are enabled one by one."""

    def restorer(self) -> Any:
        """What restores a word to what the lanes read; None where they read it as it is."""
