"""Bits that toggle on the wires of the register file: counted by hand, and beside the cycle model."""

import dataclasses
from collections import defaultdict
from itertools import product

import pytest
from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.mechanisms import Coalescing, Gating, Layout
from warploom.evaluation.traces.toggling import Toggling, form, names, toggling
from warploom.evaluation.workloads import traces
from warploom.golden_model.register_file.single import SingleFile
from warploom.golden_model.simulate import simulate

FERMI = SmConfig.preset("fermi")


def found(values, lanes=0xFFFFFFFF, *, read=False):
    """The counts of a warp that writes these values in some lanes, or then reads them, too."""
    code = [Instruction(op=Op.MOV, dst=number, imm_slot=0, imm=value) for number, value in enumerate(values)]
    code += [Instruction(op=Op.ISETP, pdst=1, src=(number, 255, 255)) for number in range(len(values) * read)]
    return toggling(trace_of(code, lanes=[lanes] * len(code)))


def counts(counted, name):
    """Moved and toggled bits of a lane."""
    return counted.moved[name] / 32, counted.toggled[name] / 32


def test_whole_words_toggle_where_they_differ():
    assert counts(found([0xFF, 0x0F, 0x1000000]), "whole_off") == (96, 8 + 4 + 5)


def test_with_coalescing_upper_bytes_keep_what_they_had():
    """The second value is one byte wide: the upper three bytes of the wires stay."""
    assert counts(found([0x100FF, 0xFF, 0x10001]), "narrow_off") == (24 + 8 + 24, 9 + 0 + 7)


def test_reads_have_their_own_wires():
    assert counts(found([0xFF, 0x0F], read=True), "whole_off") == (128, 2 * (8 + 4))


def test_a_read_moves_the_whole_register():
    """Half of its lanes keep a value of two bytes, and the other half, which read it, get one of one byte."""
    code = [Instruction(op=Op.MOV, dst=0, imm_slot=0, imm=0x101), Instruction(op=Op.MOV, dst=0, imm_slot=0, imm=0xFF),
            Instruction(op=Op.ISETP, pdst=1, src=(0, 255, 255))]
    counted = toggling(trace_of(code, lanes=[0xFFFFFFFF, 0xFFFF, 0xFFFF]))
    written = 32 * 2 + 16 * (8 + 2)  # the second word is zero in lanes that do not execute, and has one byte
    assert counted.toggled["whole_off"] == written + 16 * (8 + 2)
    assert counted.moved["narrow_off"] == 32 * (16 + 8 + 16)


def test_lanes_that_do_not_execute_move_nothing_with_gating():
    quarter = found([0xFF], lanes=0xFF)
    assert counts(quarter, "whole_active") == (8, 2)
    assert counts(quarter, "whole_off") == (32, 2)


def test_zero_lanes_and_zero_granules_do_not_move():
    zeros = found([0, 0xFF0000])
    assert counts(zeros, "whole_active") == (64, 8)
    assert counts(zeros, "whole_in_lane") == (32, 8)
    assert counts(zeros, "whole_cross_lane") == (8, 8)


def test_a_granule_moves_for_one_lane_of_its_group():
    one = found([0x12], lanes=0b10)
    assert (one.moved["whole_cross_lane"], one.moved["whole_in_lane"]) == (8, 32)


@pytest.mark.parametrize("bit", range(32))
def test_a_granule_is_not_zero_for_any_of_its_bits(bit):
    """In the last lane of a group of four, and in each lane of another group."""
    assert found([1 << bit], lanes=0b1000).moved["whole_cross_lane"] == 8
    both = found([1 << bit], lanes=0xF8)
    assert (both.moved["whole_cross_lane"], both.toggled["whole_cross_lane"]) == (5 * 8, 5)


@pytest.mark.parametrize(("coalescing", "gating"), [
    *product((Coalescing.OFF, Coalescing.ON), Gating), (Coalescing.CORF, Gating.OFF)])
def test_each_configuration_has_a_form(coalescing, gating):
    config = dataclasses.replace(FERMI, coalescing=coalescing, gating=gating, layout=Layout.WID)
    assert form(config) in names()
    assert form(config).startswith("whole") == (coalescing is Coalescing.OFF)


def test_nothing_that_moves_toggles_nothing():
    assert toggling(trace_of([Instruction(op=Op.EXIT)])).share(FERMI) == 0
    with pytest.raises(KeyError):
        Toggling().share(FERMI)


@pytest.mark.parametrize("layout", list(Layout))
@pytest.mark.parametrize("kernel", ["matmul", "pathfinder", "vector_add"])
def test_the_cycle_model_toggles_as_many(kernel, layout, monkeypatch):
    """Counted at each bank, where the operands of many warps alternate: within a tenth."""
    wires, moved, toggled = defaultdict(int), 0, 0

    def move(key, word):
        nonlocal moved, toggled
        toggled += (wires[key] ^ word).bit_count()
        wires[key], moved = word, moved + 1024

    grants, store = SingleFile.grants, SingleFile._store

    def reads(self):
        granted = grants(self)
        for _, read, word in granted:
            move(("read", read.address.bank), word)
        return granted

    def writes(self, writer):
        move(("write", self.writeback.latches[writer]["bank"]), self.writeback.written[writer].word)
        store(self, writer)

    monkeypatch.setattr(SingleFile, "grants", reads)
    monkeypatch.setattr(SingleFile, "_store", writes)
    (trace,) = traces(kernel, "tiny")
    simulate(dataclasses.replace(FERMI, layout=layout), trace)
    assert toggled / moved == pytest.approx(toggling(trace).share(FERMI), rel=0.1)
