"""`Plain`: whole words."""

from collections.abc import Sequence

from amaranth import Module, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl.register_file.columns import byte_enables, bytes_of
from warploom.rtl.register_file.forms.rows import Metadata, WholeRow
from warploom.rtl.register_file.paths import Carried, Entering


class Plain:
    """Whole words. If columns are enabled one by one, those of the lanes are written."""

    def __init__(self, config: SmConfig) -> None:
        self._gated, self.row = config.gates_columns, WholeRow()

    def tables(self) -> dict[str, wiring.Component]:
        """See `Form`, here and below."""
        return {}

    def renew(self, m: Module, platform: object, entering: Sequence[Entering]) -> list[Carried]:
        return [{} for _ in entering]

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        return {"byte_enable": byte_enables(m, number, bytes_of(path["lanes"]))} if self._gated else {}

    def needed(self, lanes: Value, early: Metadata, late: Metadata) -> Value:
        return lanes

    def restorer(self) -> None:
        return None
