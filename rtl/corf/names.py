"""Names of warp registers in CORF's tables: warp slot and register number."""

from amaranth.lib import data

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits

REGISTERS = 63
"""Registers that a thread of a Fermi GPU can name; tables by register number have a row for each."""

REGISTER_BITS = index_bits(REGISTERS)

SOURCES = 4
"""Registers of an instruction that are looked up when it issues: three sources and the destination."""

PATHS = 2
"""Write paths that the tables serve."""


def name_layout(config: SmConfig) -> data.StructLayout:
    """A register of a warp."""
    return data.StructLayout({"register": REGISTER_BITS, "warp": index_bits(config.warps)})
