"""How to repeat the runs of an experiment: the options that its documents give, and which runs a bar is made from."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig
from warploom.cli import main
from warploom.evaluation import affine, bypassing, calibration, coalescing, gating, placement, repeating, simulations
from warploom.evaluation.figures import Figure, Run, Series
from warploom.evaluation.simulations import Case
from warploom.golden_model.values import Values

FERMI, PASCAL, MAXWELL, GTX480 = map(SmConfig.preset, ("fermi", "pascal", "maxwell", "gtx480"))

EXPERIMENTS = {
    "coalescing": coalescing.configurations(FERMI), "gating": gating.configurations(MAXWELL, FERMI),
    "bypassing": bypassing.configurations(PASCAL, FERMI), "affine": affine.configurations(FERMI),
    "calibration": calibration.configurations(GTX480),
}


def chosen(options: list[str]) -> SmConfig:
    """The configuration that options of the command line choose."""
    words = iter(options)
    pairs = list(zip(words, words, strict=True))
    assert [name for name, _ in pairs] == ["--preset", *["--set"] * (len(pairs) - 1)]
    return SmConfig.preset(pairs[0][1]).with_settings([text for _, text in pairs[1:]])


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_options_choose_the_configuration(experiment: str) -> None:
    for config in EXPERIMENTS[experiment].values():
        assert chosen(repeating.options(config, "another")) == config


def test_a_preset_of_the_user(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\nwarps = 16\n')
    config = SmConfig.preset(str(mine)).with_settings(["banks=2", "rows=512"])
    assert repeating.options(config, str(mine)) == ["--preset", str(mine), "--set", "banks=2", "--set", "rows=512"]


GPU = GpuConfig.preset("k20x").with_settings(["sms=2", "network=mesh", "scheduler=gto", "sp0.lanes=16"])


def test_options_choose_the_gpu() -> None:
    words = repeating.options(GPU, "another")
    assert (words[:2], words[2::2]) == (["--gpu", "k20x"], ["--set"] * 4)
    assert GpuConfig.preset("k20x").with_settings(words[3::2]) == GPU


def test_the_command_repeats_the_run_of_a_gpu(tmp_path: Path) -> None:
    case, path = Case("vector_add", "tiny", "mesh", GPU), tmp_path / "run.json"
    assert main(["run", "vector_add", "--size", "tiny", *repeating.options(GPU, "k20x"), "--json", str(path)]) == 0
    found, kept = json.loads(path.read_text()), json.loads(simulations._run(case))
    assert found["timing"] == kept["statistics"] and kept["memory"].items() <= found["gpu"].items()


def test_the_command_repeats_the_run(tmp_path: Path) -> None:
    config = coalescing.configurations(SmConfig.preset("small"))["wid_reg"]
    case, path = Case("vector_add", "tiny", "wid_reg", config), tmp_path / "run.json"
    assert main(["run", "vector_add", "--size", "tiny", *repeating.options(config, "small"), "--json", str(path)]) == 0
    assert json.loads(path.read_text())["timing"] == json.loads(simulations._run(case))["statistics"]


def test_the_runs_of_a_bar() -> None:
    def runs_of(configurations: Mapping[str, SmConfig]) -> dict[str, Run]:
        return {name: Run(config, None, Values(zero_operand=len(name))) for name, config in configurations.items()}

    runs = {"bfs": runs_of(EXPERIMENTS["gating"]), "matmul": runs_of(EXPERIMENTS["gating"])}
    ratio = Series("ratio", lambda of: of["bytes_off"].values.zero_operand - of["bytes_active"].values.zero_operand
                   + of["bytes_off"].values.zero_operand)
    measured = Figure("Fig. 1", "A ratio", (ratio,), stacked=True).measure(runs)
    found = measured.to_json()
    assert found["stacked"] and found["series"]["ratio"]["settings"] == ["bytes_off", "bytes_active"]


def test_placement_has_no_runs() -> None:
    class Placed:
        def time(self, *_: object) -> float:
            return 1.0

        loads: Mapping[str, float] = dict.fromkeys(("small", "medium", "large", "native"), 1.0)

    for figure in placement.figures():
        measured = figure.measure({"bfs": Placed()}).to_json()
        assert all(series["settings"] == [] for series in measured["series"].values())
