"""How to repeat the runs of an experiment: the options that its documents give, and which runs a bar is made from."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from warploom.arch.config import PARAMETERS, SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.gpu import GPU_PARAMETERS, GpuConfig, Machine
from warploom.arch.parameters import Parameter
from warploom.arch.pipes import PIPE_PARAMETERS
from warploom.cli import main
from warploom.evaluation import calibration, repeating, simulations
from warploom.evaluation.affine import experiment as affine
from warploom.evaluation.bypassing import experiment as bypassing
from warploom.evaluation.coalescing import experiment as coalescing
from warploom.evaluation.figures import Figure, Run
from warploom.evaluation.gating import experiment as gating
from warploom.evaluation.placement import experiment as placement
from warploom.evaluation.simulations import Case
from warploom.golden_model.values import Values

FERMI, PASCAL, MAXWELL, GTX480 = map(SmConfig.preset, ("fermi", "pascal", "maxwell", "gtx480"))

EXPERIMENTS = {
    "coalescing": coalescing.configurations(FERMI), "gating": gating.configurations(MAXWELL, ()),
    "bypassing": bypassing.configurations(PASCAL, ()), "affine": affine.configurations(FERMI),
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


def again(machine: Machine) -> Machine:
    """The machine that the options of one choose."""
    base, preset, *settings = repeating.options(machine, "another")
    kind = {"--preset": SmConfig, "--gpu": GpuConfig}[base]
    assert settings[::2] == ["--set"] * (len(settings) // 2)
    return kind.preset(preset).with_settings(settings[1::2])


NEEDED = {
    "alignment": ["coalescing=on"], "transient": ["bypass=bow_hints"], "dispatch_delay": ["bypass=bow_wr"],
    "tfet_rows": ["issue_ports=1"], "renaming": ["issue_ports=1"], "slices": ["channels=2"],
    "sfu.dispatch_port": ["mem.dispatch_port=2"]}
"""Settings that must come before another value of a field."""


def changed(name: str, parameter: Parameter) -> Machine | None:
    """A machine with another value of a field, if there is one."""
    values = list(parameter.choices or (parameter.low, parameter.low + 1, parameter.high, 2, 3, 4, 8, 12, 16, 64))
    for base in (FERMI, GTX480, GpuConfig.preset("k20x")):
        for value in values:
            with suppress(ConfigError):
                before = base.with_settings(NEEDED.get(name, []))
                if (found := base.with_settings([*NEEDED.get(name, []), f"{name}={value}"])) != before:
                    return found
    return None


@pytest.mark.parametrize(("name", "parameter"), [
    *((name, one) for name, one in PARAMETERS.items() if name != "pipes"), *GPU_PARAMETERS.items(),
    *((f"sfu.{name}", one) for name, one in PIPE_PARAMETERS.items() if name not in ("classes", "result_queue"))])
def test_every_field_that_differs(name: str, parameter: Parameter) -> None:
    found = changed(name, parameter)
    assert found is not None and again(found) == found


@pytest.mark.parametrize("settings", [
    ["timing.sfu=[9, 9]"], ["sp1.classes.fp_add=[5, 1]"], ["sp0.result_queue=3"], ["sfu.name=special"],
    ["sfu.copy=second"], ["sfu.copy=second", 'second.classes={dp_add = [8, 8]}', "banks=8", "second.lanes=16"]])
def test_other_pipes_and_classes(settings: list[str]) -> None:
    machine = FERMI.with_settings(settings)
    assert machine != FERMI and again(machine) == machine


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
    measured = Figure("Fig. 1", "A ratio", {
        "ratio": lambda of: of["bytes_off"].values.zero_operand - of["bytes_active"].values.zero_operand
                            + of["bytes_off"].values.zero_operand,
    }, stacked=True).measure(runs)
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
