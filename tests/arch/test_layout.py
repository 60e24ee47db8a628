"""Register layout: every live register of every resident warp has its own physical address, inside the banks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.arch.config import SmConfig
from warploom.arch.errors import LaunchError
from warploom.arch.launch import Launch
from warploom.arch.layout import address, affine_address, check_fits, left, powered_rows, resident_warps, rows_per_warp
from warploom.arch.mechanisms import Alignment, Coalescing, Layout
from warploom.arch.program import Program
from warploom.golden_model.placement import owners


@given(
    layout=st.sampled_from(list(Layout)), banks=st.sampled_from([1, 2, 4, 8, 16]),
    rows=st.sampled_from([64, 256]), registers=st.integers(1, 255),
)
def test_places_are_distinct_and_inside(layout, banks, rows, registers):
    config = SmConfig(layout=layout, banks=banks, rows=rows)
    stride, warps = rows_per_warp(config, registers), resident_warps(config, registers)
    addresses = [address(config, stride, warp, register) for warp in range(warps) for register in range(registers)]
    assert len(set(addresses)) == len(addresses)
    assert all(0 <= bank < banks and 0 <= row < rows for bank, row in addresses)


@given(
    layout=st.sampled_from(list(Layout)), banks=st.sampled_from([1, 2, 4, 8]), schedulers=st.sampled_from([1, 2, 4]),
    registers=st.integers(1, 255),
)
def test_affine_places_are_distinct_and_inside(layout, banks, schedulers, registers):
    config = SmConfig(layout=layout, banks=banks, rows=256, schedulers=schedulers, affine="a")
    warps = range(resident_warps(config, registers))
    addresses = [affine_address(config, registers, warp, register) for warp in warps for register in range(registers)]
    assert len(set(addresses)) == len(addresses)
    assert all(0 <= number < schedulers and 0 <= entry < config.affine_entries for number, entry in addresses)


def test_layouts_of_the_seed():
    """[RADAIDEH], Fig. 3.10: all registers of a warp in bank `warp`, or interleaved from bank `warp` on."""
    wid, wshift = SmConfig(layout=Layout.WID), SmConfig(layout=Layout.WSHIFT)
    assert {address(wid, 8, 5, register)[0] for register in range(8)} == {1}
    assert [address(wshift, 2, 5, register)[0] for register in range(4)] == [1, 2, 3, 0]


def test_sides_of_the_seed():
    """[RADAIDEH], Fig. 3.14: even registers right, odd ones left."""
    on = SmConfig(coalescing=Coalescing.ON)
    assert [left(on, register) for register in range(4)] == [False, True, False, True]
    parity = SmConfig(coalescing=Coalescing.ON, alignment=Alignment.PARITY)
    assert [register for register in range(12) if left(parity, register)] == [1, 3, 4, 6, 9, 11]
    assert not left(SmConfig(), 1)
    assert not left(SmConfig(coalescing=Coalescing.ON, alignment=Alignment.WRITE), 1)


def test_occupancy_follows_from_the_layout():
    assert resident_warps(SmConfig(layout=Layout.WID), 21) == 48
    assert resident_warps(SmConfig(layout=Layout.WID), 63) == 16
    assert resident_warps(SmConfig(layout=Layout.WSHIFT), 63) == 16
    assert resident_warps(SmConfig(layout=Layout.WSHIFT), 65) == 15
    assert resident_warps(SmConfig(layout=Layout.WSHIFT, affine="a"), 65) == 14  # 2 sets of 7 warps


def test_a_block_that_does_not_fit_is_refused():
    def check(threads, registers, dynamic_shared):
        program = Program("kernel", "kernel.ptx", (), (), registers, shared_bytes=4)
        check_fits(SmConfig(), program, Launch((1, 1, 1), (threads, 1, 1), dynamic_shared=dynamic_shared))

    with pytest.raises(LaunchError, match="a block of 32 warps with 63 registers per thread does not fit"):
        check(1024, 63, 0)
    with pytest.raises(LaunchError, match="needs 49153 bytes of shared memory, narrow has 49152"):
        check(32, 32, 49149)
    check(1024, 32, 49148)


@pytest.mark.parametrize(("layout", "warps", "rows"), [
    ("wshift", 32, 150), ("wshift", 1, 5), ("wid", 32, 138), ("wid", 33, 155), ("wid", 1, 18)])
def test_rows_that_are_on_are_those_of_the_resident_warps(layout: str, warps: int, rows: int) -> None:
    """22 registers are 6 rows in each of four banks, or 22 in one: 192, 6, 176, 198 and 22 of 256; of these 200 in 256
    are CMOS."""
    config = SmConfig.preset("narrow").with_settings(
        [f"layout={layout}", "rows=256", "tfet_rows=56", "pipes.sp.result_queue=2", "renaming=cmos_first"])
    assert powered_rows(config, 22, warps) == rows


def test_rows_belong_to_the_warps_that_fit() -> None:
    """Banks of 16 rows hold one warp each with 16 registers, and no row for slots 2 and 3."""
    config = SmConfig.preset("small").with_settings(["warps=4", "schedulers=1", "banks=2", "rows=16", "layout=wid"])
    found = owners(config, 16)
    assert found == {(bank, row): (bank, row) for bank in range(2) for row in range(16)}
    renamed = config.with_settings(["renaming=cmos_first", "pipes.sp.result_queue=8"])
    assert owners(renamed, 16) == {}
