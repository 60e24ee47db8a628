"""`warploom energy`: the events of a run, as experiments count them."""

import json
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.cli import main
from warploom.evaluation.register_file_energy import register_file
from warploom.evaluation.simulations import Case, results

SETTINGS = {
    "none": (), "coalescing": ("coalescing=on", "gating=cross_lane"), "cache": ("bypass=rfc", "entries=6"),
    "windows": ("bypass=bow_hints", "affine=abm"), "renaming": ("renaming=cmos_first",),
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_events_of_a_program_are_those_of_an_experiment(settings: tuple[str, ...], tmp_path: Path, capsys) -> None:
    config, path = SmConfig.preset("small").with_settings([*settings]), tmp_path / "energy.json"
    chosen = [word for setting in settings for word in ("--set", setting)]
    assert main(["energy", "gaussian", "--size", "tiny", "--preset", "small", *chosen, "--json", str(path)]) == 0
    found, case = json.loads(path.read_text()), Case("gaussian", "tiny", "", config)
    run = results([case], lambda _: None)[case]
    parts = register_file(run)
    assert found["pj"] == pytest.approx(parts.total)
    assert found["toggling"] == run.toggling.share(config)
    assert (found["cycles"], found["warp_instructions"]) == (run.statistics.cycles, run.statistics.warp_instructions)
    by_part = dict.fromkeys((event["part"] for event in found["events"]), 0.0)
    for event in found["events"]:
        assert event["pj"] == pytest.approx(event["number"] * event["each"]) and event["pj"] > 0
        by_part[event["part"]] += event["pj"]
    assert by_part["macros"] == pytest.approx(parts.macros)
    assert {part: by_part[part] for part in parts.added} == pytest.approx(parts.added)
    out = capsys.readouterr().out
    assert "dynamic energy of the register file" in out and all(event["event"] in out for event in found["events"])
