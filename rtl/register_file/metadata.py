# amaranth: UnusedElaboratable=no
"""The table of the metadata of all warp registers."""

from collections.abc import Sequence
from typing import Any

from amaranth import Cat, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warploom.arch.config import SmConfig
from warploom.rtl import ports
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.shared import module_name, share


class MetadataTable(wiring.Component):
    """For each group of warps an early and a late part, if the stored form has them. With sides the early part gives
    the side of a register in the late part. The issue inputs of a port look up in its own group.

    Parameters
    ----------
    config : the machine; its stored form has metadata.

    Members
    -------
    lookup : for each issue input, metadata of the registers of an instruction (`warploom.rtl.ports.lookup`).
    renewal : for each write path, those of the register that is written (`warploom.rtl.ports.renewal`).
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        super().__init__({
            "lookup": In(ports.lookup(config)).array(config.issue_inputs),
            "renewal": In(ports.renewal(config)).array(len(config.write_paths)),
        })
        self.groups = [form_of(config).tables() for _ in range(config.issue_ports)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for group, parts in enumerate(self.groups):
            for name, table in parts.items():
                module = module_name(type(table).__name__)
                m.submodules[f"{module}_{group}"] = share(platform, module, table)
                self._look_up(m, [self.lookup[number] for number in self._config.inputs_of(group)], name, table)
                self._renew(m, group, name, table)
        return m

    def _look_up(self, m: Module, lookups: Sequence[Any], name: str, table: Any) -> None:
        """Look up in a part for the inputs of a port."""
        m.d.comb += [
            table.lookup.address.eq(Cat(lookup.address for lookup in lookups)),
            table.lookup.taken.eq(Cat(lookup.taken for lookup in lookups)),
            Cat(getattr(lookup, name) for lookup in lookups).eq(table.lookup.found),
        ]
        if name == "late" and self._config.has_sides:
            known = [early for lookup in lookups for early in lookup.early]
            m.d.comb += [address.left.eq(early.left)
                         for address, early in zip(table.lookup.address, known, strict=True)]

    def _renew(self, m: Module, group: int, name: str, table: Any) -> None:
        """Writes of a group's registers update its part."""
        for inner, outer in zip(table.renewal, self.renewal, strict=True):
            mine = outer.address.group == group if self._config.divides_metadata else Const(1)
            m.d.comb += [
                inner.enable.eq(outer.enable & mine),
                inner.address.eq(outer.address),
                inner.metadata.eq(getattr(outer, name)),
            ]
