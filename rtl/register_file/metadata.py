# amaranth: UnusedElaboratable=no
"""The metadata table: what is known of each warp register, beside its bytes."""

from typing import Any

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warploom.arch.config import SmConfig
from warploom.rtl import ports
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.shared import module_name, share


class MetadataTable(wiring.Component):
    """An early part and a late one, as far as the stored form has them. With sides the early part says where in the
    late one a register is.

    Parameters
    ----------
    config : the machine; its stored form has metadata.

    Members
    -------
    lookup : metadata of the registers of an instruction (`warploom.rtl.ports.lookup`).
    renewal : for each write path, those of the register that is written (`warploom.rtl.ports.renewal`).
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._has_sides = config.has_sides
        super().__init__({
            "lookup": In(ports.lookup(config)), "renewal": In(ports.renewal(config)).array(len(config.write_paths)),
        })
        self.parts = form_of(config).tables()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, table in self.parts.items():
            module = module_name(type(table).__name__)
            m.submodules[module] = share(platform, module, table)
            self._connect(m, name, table)
        return m

    def _connect(self, m: Module, name: str, table: Any) -> None:
        """A part is looked up and renewed."""
        m.d.comb += [
            table.lookup.address.eq(self.lookup.address),
            table.lookup.taken.eq(self.lookup.taken),
            getattr(self.lookup, name).eq(table.lookup.found),
        ]
        if name == "late" and self._has_sides:
            m.d.comb += [address.left.eq(early.left)
                         for address, early in zip(table.lookup.address, self.lookup.early, strict=True)]
        for inner, outer in zip(table.renewal, self.renewal, strict=True):
            m.d.comb += [
                inner.enable.eq(outer.enable), inner.address.eq(outer.address), inner.metadata.eq(getattr(outer, name)),
            ]
