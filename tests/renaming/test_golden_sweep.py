"""The sweep of the registers of ended warps, cycle by cycle (docs/contract/renaming.md, *Ended warps*)."""

import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.renaming.lists import Kind, Lists
from warploom.golden_model.renaming.ownership import Ownership
from warploom.golden_model.renaming.sweep import Sweep
from warploom.golden_model.renaming.table import Table

CONFIG = SmConfig.preset("small").with_settings(["renaming=cmos_first", "banks=4", "rows=16"])

BOTH = ((0, 0), (1, 1))
"""Virtual row 0 of bank 0, and virtual row 1 of bank 1."""


@pytest.mark.parametrize(("mapped", "offered", "released", "entered", "ended"), [
    (BOTH, set(), {}, {(0, 0): 2, (1, 1): 4}, 5),  # steps in 1 and 3
    (BOTH[:1], set(), {}, {(0, 0): 2}, 5),  # the step in 3 finds nothing
    (BOTH[1:], set(), {}, {(1, 1): 3}, 4),  # and so does that in 1, so that the next one is in 2
    ((), set(), {}, {}, 4),
    (BOTH, {1, 4}, {}, {(0, 0): 3, (1, 1): 6}, 7),  # steps in 2 and 5
    (BOTH, set(), {2: {0}}, {(0, 0): 3, (1, 1): 5}, 6),  # a row that was read enters the list of bank 0 in 2
    (BOTH, set(), {2: {1}, 4: {1}, 5: {1}}, {(0, 0): 2, (1, 1): 6}, 7),
], ids=str)
def test_a_sweep(
    mapped: tuple[tuple[int, int], ...], offered: set[int], released: dict[int, set[int]],
    entered: dict[tuple[int, int], int], ended: int,
) -> None:
    """Slot 0, with two virtual rows in each of two banks, retires in cycle 0: by row the cycle in which it enters its
    list, and the first cycle in which the slot's bit is 0 again."""
    config = CONFIG.with_settings(["banks=2", "layout=wshift"])
    table, lists, ownership = Table(config), Lists(config, powered=4), Ownership(config)
    for bank, virtual in mapped:
        table.assign(bank, virtual, 0)
        lists.take(bank, Kind.CMOS)
        ownership.given(bank, 0)
    sweep, found = Sweep(config, 2, table, lists, ownership), dict[tuple[int, int], int]()
    for cycle in range(ended + 1):
        assert sweep.sweeping == (0 < cycle < ended)
        sweep.clock(retired=cycle == 0, offered=cycle in offered, released=released.get(cycle, ()))
        lists.clock()
        found |= {place: cycle for place in mapped if place not in found and 0 in lists.rows(place[0])}
    assert found == entered and not list(table.mapped())


def test_the_lowest_slot_is_swept_first() -> None:
    """Steps of slot 2 in 1 and 2, so that its bit is 0 in 4; then those of slot 3 in 4 and 5."""
    sweep, seen = Sweep(CONFIG, 2, Table(CONFIG), Lists(CONFIG, powered=4), Ownership(CONFIG)), []
    for cycle in range(8):
        seen.append(sweep.sweeping)
        sweep.clock(retired=0b1100 * (cycle == 0), offered=False, released=())
    assert seen == [0, *[0b1100] * 3, *[0b1000] * 3, 0]


def test_a_warp_in_one_bank_is_swept_there() -> None:
    """With four banks slot 6 has the virtual rows 2 and 3 of bank 2; those of slot 5 in bank 1 stay."""
    config = CONFIG.with_settings(["layout=wid"])
    table, lists, ownership = Table(config), Lists(config, powered=4), Ownership(config)
    for bank in (1, 2):
        for virtual in (2, 3):
            row = lists.shows(bank, Kind.CMOS)
            assert row is not None
            table.assign(bank, virtual, row)
            lists.take(bank, Kind.CMOS)
            ownership.given(bank, row)
    sweep = Sweep(config, 2, table, lists, ownership)
    for cycle in range(8):
        sweep.clock(retired=1 << 6 if cycle == 0 else 0, offered=False, released=())
        lists.clock()
    assert not sweep.sweeping and sorted(table.mapped()) == [(1, 2, 0), (1, 3, 1)]


def test_swept_rows_go_to_the_queue_of_the_right() -> None:
    """So they are shown before one that was read on the left, although that entered the list earlier."""
    table, lists, ownership = Table(CONFIG), Lists(CONFIG, powered=2), Ownership(CONFIG)
    for _ in range(2):
        lists.take(0, Kind.CMOS)
    table.assign(0, 0, 0)
    ownership.given(0, 0)
    lists.release(0, 1, 1)
    sweep = Sweep(CONFIG, 2, table, lists, ownership)
    for cycle in range(5):
        sweep.clock(retired=int(cycle == 0), offered=False, released=())
        lists.clock()
    assert lists.shows(0, Kind.CMOS) == 0
