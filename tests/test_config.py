"""SmConfig: presets, TOML round trip, settings, and one clear message for each illegal value."""

import dataclasses

import pytest

from warploom.arch.config import FERMI_TIMING, Layout, Scheduler, SmConfig, presets
from warploom.arch.errors import ConfigError


def test_presets_are_bundled_and_named_after_their_file():
    assert presets() == ["fermi", "maxwell", "small"]
    assert [SmConfig.preset(name).name for name in presets()] == presets()


def test_fermi_has_the_register_file_of_the_seed():
    """Seed 000, Table 3.5: 128 KB in four banks, four collectors, 48 warps, eight blocks, two schedulers."""
    fermi = SmConfig.preset("fermi")
    assert fermi == SmConfig()
    assert fermi.register_file_bytes == 128 * 1024
    assert (fermi.banks, fermi.collectors, fermi.warps, fermi.blocks, fermi.schedulers) == (4, 4, 48, 8, 2)
    assert fermi.l1_sets * fermi.l1_ways * fermi.line_bytes == 16 * 1024


def test_maxwell_is_one_core_of_the_seed():
    """Seed 000, Table 4.1: a quarter of 256 KB in 16 banks of 128 B, 16 collectors, 64 warps, one scheduler, 8 SFUs."""
    maxwell = SmConfig.preset("maxwell")
    assert maxwell.register_file_bytes == 256 * 1024 // 4
    assert (maxwell.banks, maxwell.rows, maxwell.collectors) == (16, 32, 16)
    assert (4 * maxwell.warps, 4 * maxwell.shared_bytes, maxwell.schedulers) == (64, 96 * 1024, 1)
    assert maxwell.l1_sets * maxwell.l1_ways * maxwell.line_bytes == 16 * 1024 // 4
    assert (maxwell.timing["sfu"][1], maxwell.timing["mem"][1]) == (32 // 8, 32 // 8)


@pytest.mark.parametrize("name", presets())
def test_toml_round_trip(name):
    config = SmConfig.preset(name)
    assert SmConfig.from_toml(config.to_toml()) == config


def test_settings_change_fields_and_single_timing_rows():
    config = SmConfig.preset("small").with_settings(["scheduler=gto", "layout=wid", "banks=4", "timing.int_add=[6, 2]"])
    assert config.scheduler is Scheduler.GTO
    assert config.layout is Layout.WID
    assert config.banks == 4
    assert config.timing == {**FERMI_TIMING, "int_add": (6, 2)}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("banks=3", "banks = 3: must be a power of two"),
        ("banks=64", "banks = 64: must be a whole number from 1 to 32"),
        ("warps=true", "warps = True: must be a whole number"),
        ("warps=9", "warps = 9 and schedulers = 2 disagree"),
        ("scheduler=fifo", "scheduler = 'fifo': must be one of lrr, gto, two_level"),
        ("layout=diagonal", "layout = 'diagonal': must be one of wid, wshift"),
        ("coalescing=maybe", "coalescing = 'maybe': must be one of off, on, corf, corf_plus"),
        ("alignment=write", "alignment = write and coalescing = off disagree"),
        ("coalescing=corf", "coalescing = corf and layout = wshift disagree: CORF needs all registers of a warp"),
        ("gating=zero", "gating = 'zero': must be one of off, active, in_lane, cross_lane"),
        ("colectors=4", "'colectors' is not a configuration field"),
        ("timing.int_add=[3, 1]", "timing.int_add latency = 3: must be a whole number from 4 to 64"),
        ("timing.int_add=4", "timing.int_add = 4: must be [latency, interval]"),
        ("timing.tensor=[4, 1]", "timing: tensor: must list exactly"),
        ("banks", "write a setting as field=value"),
        ("banks=[", "banks = [: not a TOML value"),
    ],
)
def test_illegal_settings_name_field_value_and_range(setting, message):
    with pytest.raises(ConfigError) as caught:
        SmConfig().with_settings([setting])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("settings", [
    [], ["coalescing=on"], ["coalescing=on", "alignment=write"], ["coalescing=on", "layout=wid"],
    ["gating=active"], ["gating=in_lane", "coalescing=on"], ["gating=cross_lane", "layout=wid"],
    ["gating=cross_lane", "coalescing=on", "alignment=write"],
])  # fmt: skip
def test_what_hardware_exists(settings):
    SmConfig().with_settings(settings).check_hardware()


@pytest.mark.parametrize(("settings", "message"), [
    (["coalescing=on", "alignment=ideal"], "alignment = ideal: a bound of the golden model, without hardware"),
    (["coalescing=on", "alignment=upper_bound"], "alignment = upper_bound: a bound of the golden model"),
    (["coalescing=corf", "layout=wid"], "coalescing = corf: a comparator of the golden model"),
    (["coalescing=corf_plus", "layout=wid"], "coalescing = corf_plus: a comparator of the golden model"),
])  # fmt: skip
def test_what_exists_in_the_model_only(settings, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(settings).check_hardware()


@pytest.mark.parametrize(("settings", "message"), [
    (["gating=active", "coalescing=corf", "layout=wid"], "gating = active and coalescing = corf disagree"),
    (["gating=in_lane", "coalescing=corf_plus", "layout=wid"], "gating = in_lane and coalescing = corf_plus disagree"),
    (["gating=active", "coalescing=on", "alignment=ideal"], "gating = active and alignment = ideal disagree"),
])  # fmt: skip
def test_what_has_no_columns_to_gate(settings, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(settings)


def test_unknown_preset_and_missing_file_name_the_remedy(tmp_path):
    with pytest.raises(ConfigError, match="must be one of fermi, maxwell, small"):
        SmConfig.preset("volta")
    with pytest.raises(ConfigError, match=r"none\.toml: No such file.*name a preset"):
        SmConfig.preset(str(tmp_path / "none.toml"))
    broken = tmp_path / "broken.toml"
    broken.write_text("banks = = 3")
    with pytest.raises(ConfigError, match="not TOML"):
        SmConfig.preset(str(broken))


def test_configuration_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SmConfig().banks = 8
