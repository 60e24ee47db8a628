"""Bank and row of a warp register, in gates: the hardware of `warploom.arch.layout.place`."""

from amaranth import Value
from amaranth.utils import exact_log2

from warploom.arch.config import Layout, SmConfig
from warploom.arch.interfaces import index_bits

STRIDE_BITS = 8
"""Bits of `stride`, the rows of one warp in each bank that holds it; a static input that the launch sets."""


def place(config: SmConfig, stride: Value, warp: Value, register: Value) -> tuple[Value, Value]:
    """(bank, row) of a register of a warp slot; the row is cut to the bits that address a bank."""
    bank_bits = exact_log2(config.banks)
    if config.layout is Layout.WID:
        bank, row = warp, (warp >> bank_bits) * stride + register
    else:
        bank, row = warp + register, warp * stride + (register >> bank_bits)
    return bank[:bank_bits], row[: index_bits(config.rows)]
