"""The cost of alignment in Yosys's gates: interleaving is wiring, a swap one multiplexer level ([RADAIDEH], 3.6.2)."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SUB_BANKS
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.byte_order import deinterleave, interleave, swap
from warploom.rtl.coalescing.alignment import OperandPath
from warploom.rtl.verilog import to_rtlil
from warploom.synth import yosys


class Function(wiring.Component):
    """A function of a word and of one bit, alone in a module."""

    def __init__(self, function: Callable[..., Value]) -> None:
        self._function = function
        super().__init__({"word": In(WARP_BITS), "left": In(1), "result": Out(WARP_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.result.eq(self._function(self.word, self.left))
        return m


def synthesised(component: wiring.Component, folder: Path) -> dict[str, Any]:
    """The module that Yosys generates from a component, in its own gates."""
    (folder / "unit.il").write_text(to_rtlil(component, "unit", source_lines=False))
    yosys.run("read_rtlil unit.il\nsynth -flatten -noabc -top unit\nwrite_json unit.json\n", folder, "cells")
    module: dict[str, Any] = json.loads((folder / "unit.json").read_text())["modules"]["unit"]
    return module


def kinds(module: dict[str, Any]) -> Counter[str]:
    """Cells by type."""
    return Counter(cell["type"] for cell in module["cells"].values())


@pytest.mark.parametrize("convert", [interleave, deinterleave])
def test_conversion_is_wiring(convert: Callable[..., Value], tmp_path: Path) -> None:
    """No cell, and bit b of byte k of lane l is connected to bit b of byte l of slice k."""
    module = synthesised(Function(lambda word, left: convert(word)), tmp_path)
    assert not module["cells"]
    outside, inside = module["ports"]["word"]["bits"], module["ports"]["result"]["bits"]
    if convert is deinterleave:
        outside, inside = inside, outside
    for lane in range(LANES):
        for k in range(SUB_BANKS):
            byte, part = 32 * lane + 8 * k, 256 * k + 8 * lane
            assert outside[byte : byte + 8] == inside[part : part + 8]


def test_swap_is_one_multiplexer_for_each_bit(tmp_path: Path) -> None:
    assert kinds(synthesised(Function(swap), tmp_path)) == {"$_MUX_": WARP_BITS}


def test_operand_path_is_a_swap_and_a_fill(tmp_path: Path) -> None:
    """One more multiplexer for each bit above the lowest byte."""
    cells = kinds(synthesised(OperandPath(), tmp_path))
    assert cells == {"$_MUX_": WARP_BITS + (SUB_BANKS - 1) * WARP_BITS // SUB_BANKS}
