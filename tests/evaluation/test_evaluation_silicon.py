"""``warploom evaluate silicon``: the model beside recorded silicon."""

import json
from pathlib import Path

import pytest
from support.work import in_this_process

from warploom import points
from warploom.arch.gpu import GpuConfig
from warploom.cli import main
from warploom.evaluation.silicon.experiment import Pair, agreements
from warploom.evaluation.silicon.latency import LINES, Chains
from warploom.silicon.latency import load


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "compute", in_this_process)


def pair(name: str, size: str, cycles: int, chip_cycles: int) -> Pair:
    return Pair(name, size, 10 * cycles, 10 * chip_cycles, 32.0, 32.0, cycles, chip_cycles)


def test_agreement_of_logarithms_and_ranks():
    """The model has the square of the chip's cycles, in the same order; one program grows as on the chip."""
    programs = [("a", 2, 10), ("b", 8, 30), ("c", 4, 20)]
    pairs = [pair(name, "tiny", chip**2, chip) for name, chip, _ in programs]
    pairs += [pair(name, "default", growth * chip**2, growth * chip) for name, chip, growth in programs]
    instructions, cycles, *_, growth = agreements(pairs)
    assert (instructions.what, cycles.what, growth.what) == (
        "warp instructions, tiny", "cycles, tiny", "growth of cycles, tiny to default")
    assert cycles.programs == growth.programs == 3
    assert (cycles.logarithms, cycles.ranks, cycles.ratio) == pytest.approx((1, 1, 4))  # of 2, 8 and 4
    assert growth.ratio == pytest.approx(1)
    falling = agreements([pair("a", "tiny", 1, 30), pair("b", "tiny", 2, 20), pair("c", "tiny", 8, 10)])
    assert falling[1].ranks == pytest.approx(-1)
    assert falling[1].logarithms > -1
    assert not agreements(pairs[:2])
    assert not agreements([pair(name, "tiny", 7, 7) for name in "abc"])  # equal ones have no correlation


@pytest.mark.parametrize("names", ["abcd", "acbd"])
def test_equal_cycles_have_equal_ranks(names: str) -> None:
    """1, 2.5, 2.5 and 4 beside 1, 3, 2 and 4, whichever of the equal ones comes first: 4.5 / sqrt(4.5 * 5)."""
    cycles = {"a": (1, 10), "b": (2, 30), "c": (2, 20), "d": (4, 40)}
    assert agreements([pair(name, "tiny", *cycles[name]) for name in names])[1].ranks == pytest.approx(0.9**0.5)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "silicon.json"
    workloads = ["--size", "tiny", "--workloads", "conv,cmult,bsearch"]
    assert main(["evaluate", "silicon", *workloads, "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert found["chip"] == "NVIDIA H200"
    by = {entry["workload"]: entry for entry in found["programs"]}
    assert {name: entry["chip_instructions"] for name, entry in by.items()} == {
        "conv": 1984, "cmult": 736, "bsearch": 2146}
    assert all(0.5 < entry["instructions"] / entry["chip_instructions"] < 2 for entry in by.values())
    for name in ("conv", "cmult"):  # with lanes whose guard is false: 30.4 and 30.3 without
        assert by[name]["lanes"] == pytest.approx(by[name]["chip_lanes"], rel=0.01)
    assert [entry["what"] for entry in found["agreements"]] == ["warp instructions, tiny", "cycles, tiny"]
    loads = {entry["what"]: entry["cycles"] for entry in found["latencies"] if entry["bytes"]}
    assert loads["l1"] < loads["l2"] < loads["dram"]
    assert "How the model follows NVIDIA H200" in capsys.readouterr().out


def test_latencies_follow_the_configuration(tmp_path: Path) -> None:
    """A chain of loads waits for what the configuration says, and nothing else."""
    usual = GpuConfig.preset("k20x").with_settings(["sms=1"])
    slower = usual.with_settings(["l1_latency=45", "l2_latency=300"])
    before, after = ([chains.cycles("l", load(operator), chains.ring(LINES[what]))
                      for what, operator in (("l1", "ca"), ("l2", "cg"), ("dram", "cg"))]
                     for chains in (Chains(usual, tmp_path), Chains(slower, tmp_path)))
    assert [round(more - less) for less, more in zip(before, after, strict=True)] == [10, 210, 210]


@pytest.mark.parametrize(("arguments", "message"), [
    (["--size", "large"], "--size large: the chip ran tiny and default"),
    (["--size", "tiny", "--workloads", "hotspot"], "hotspot: was not recorded; name bundled programs"),
    (["--blocks", "4"], "the chip ran all blocks"),
])
def test_what_was_not_recorded(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "silicon", *arguments]) == 1
    assert message in capsys.readouterr().err
