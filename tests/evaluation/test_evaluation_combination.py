"""All combinations of the mechanisms: their configurations, storage, and what adds or overlaps."""

import dataclasses
import json
from pathlib import Path

import pytest
from support.runs import run

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import STRONGEST
from warploom.cli import main
from warploom.evaluation import combination
from warploom.evaluation.combination import NONE, configurations, members, rows
from warploom.evaluation.figures import Run
from warploom.evaluation.hardware.storage import storage
from warploom.evaluation.register_file_energy import register_file
from warploom.evaluation.workloads import traces
from warploom.golden_model.simulate import simulate
from warploom.golden_model.values import Values

FERMI = SmConfig.preset("fermi")
NO_EVENTS = dict.fromkeys(("compact_reads", "compact_writes", "expanded", "expansions"), 0)
"""Of the affine unit."""


def test_all_sixteen_are_legal_and_differ() -> None:
    found = configurations(FERMI)
    assert len(found) == len(set(found.values())) == 2 ** len(STRONGEST)
    assert found[NONE] == FERMI
    assert members("gating + affine") == ["gating", "affine"]
    assert members(NONE) == []


def test_storage_grows_with_each_mechanism() -> None:
    found = {name: storage(config) for name, config in configurations(FERMI).items()}
    assert found[NONE].sram_bits == 8 * FERMI.register_file_bytes
    assert found[NONE].flip_flop_bits == FERMI.collectors * 3 * 1024
    assert found["bypassing"].flip_flop_bits == FERMI.warps * 12 * 1024
    for name, one in found.items():
        for other in STRONGEST:
            if other not in members(name):
                more = next(config for known, config in found.items() if {*members(known)} == {*members(name), other})
                assert more.area_um2 > one.area_um2


@pytest.mark.parametrize(("name", "sram_bits", "flip_flop_bits"), [
    (NONE, 0, 0),
    ("affine", 3 * 1024 * 48, 1024),  # three copies of 1,024 values, and their tags
    ("bypassing", 0, 48 * 12 * 1024 - 4 * 3 * 1024),  # twelve words for each warp instead of three in four collectors
    ("gating", 4 * 1224 * 40, 0),  # a copy for each register that an instruction names
    ("coalescing", 0, 1224 * 3),
    ("coalescing + gating", 4 * 2 * 1224 * 32, 1224 * 3),  # both sides; granules are not known
])
def test_storage_by_hand(name: str, sram_bits: int, flip_flop_bits: int) -> None:
    """What is added to a register file of 1 Mibit and 12 words in collectors. The metadata of 2 groups have 4 banks of
    153 rows."""
    found = storage(configurations(FERMI)[name])
    assert (found.sram_bits, found.flip_flop_bits) == (2**20 + sram_bits, 12 * 1024 + flip_flop_bits)
    assert found.area_um2 == pytest.approx(0.692 * found.sram_bits + 4.522 * found.flip_flop_bits)


def test_what_is_compared() -> None:
    ran = run(FERMI, ipc=0.7, bank_accesses=5, sub_bank_reads=9, operand_columns=8)
    assert {name: metric(ran) for name, metric in combination.METRICS.items()} == {
        "ipc": 0.7, "accesses": 5, "energy": register_file(ran).total}


def test_ratios_have_geometric_means_and_an_area() -> None:
    """The workload that gains a factor of 4 and the one that loses one of 4 gain nothing together."""
    configs = configurations(FERMI)
    runs = {name: {"affine": run(configs["affine"], ipc=ipc, bank_accesses=2, sub_bank_reads=1,
                                 affine=NO_EVENTS),
                   NONE: run(FERMI, ipc=1.0, bank_accesses=1, sub_bank_reads=1)}
            for name, ipc in (("a", 4.0), ("b", 0.25))}
    after, before = rows(runs, {"both": ["a", "b"]})
    assert (before.combination, before.group, before.ipc, before.area, before.ipc_per_area) == (NONE, "both", 1, 1, 1)
    area = (0.692 * (2**20 + 147456) + 4.522 * 13 * 1024) / (0.692 * 2**20 + 4.522 * 12 * 1024)
    assert (after.combination, after.ipc, after.ipc_expected) == ("affine", pytest.approx(1), pytest.approx(1))
    assert (after.accesses, after.area, after.ipc_per_area) == pytest.approx((2, area, 1 / area))
    (first,) = [row for row in rows(runs, {"one": ["a"]}) if row.combination == "affine"]
    assert (first.ipc, first.workloads) == (pytest.approx(4), 1)


@pytest.fixture
def plain() -> Run:
    """A run without any mechanism."""
    trace, = traces("vector_add", "tiny")
    return Run(FERMI, simulate(FERMI, trace).statistics, Values())


def test_what_is_expected_is_the_product(plain: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combination, "METRICS", {
        "ipc": lambda run: run.statistics.ipc, "accesses": lambda run: run.statistics.bank_accesses,
        "energy": lambda run: run.statistics.bank_accesses})
    halves = {NONE: 1.0, "gating": 0.5, "affine": 0.5, "gating + affine": 0.4}
    runs = {name: {key: dataclasses.replace(plain, statistics=dataclasses.replace(
        plain.statistics, ipc=each * share * 2, bank_accesses=round(1000 * each * share)))
        for key, share in halves.items()} for name, each in (("a", 1.0), ("b", 4.0))}
    both = next(row for row in rows(runs, {"all": ["a", "b"]}) if row.combination == "gating + affine")
    assert (both.ipc, both.accesses, both.ipc_expected) == (pytest.approx(0.4), pytest.approx(0.4), pytest.approx(0.25))
    assert both.workloads == 2
    assert both.area == both.ipc / both.ipc_per_area == 1  # all have the configuration of the baseline here


@pytest.mark.long
def test_the_document(tmp_path: Path) -> None:
    path = tmp_path / "combination.json"
    assert main(["evaluate", "combination", "--preset", "small", "--size", "tiny", "--workloads", "vector_add",
                 "--json", str(path)]) == 0
    document = json.loads(path.read_text())
    assert len(document["combinations"]) == 16
    assert document["ratios"]["ipc"][NONE] == {"vector_add": 1.0}
    gated = document["ratios"]["ipc"]["gating"]["vector_add"]
    assert gated == 1.0
    totals = {entry["setting"]: entry["total"] / 100 for entry in document["energy"]}
    assert totals == pytest.approx({name: of["vector_add"] for name, of in document["ratios"]["energy"].items()})
