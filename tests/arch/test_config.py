"""SmConfig: presets, TOML round trip, settings, and one clear message for each illegal value."""

import dataclasses

import pytest

from warploom.arch.config import PARAMETERS, SmConfig, Timing, presets
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Pipe, TimingClass
from warploom.arch.mechanisms import Affine, Layout, Scheduler
from warploom.arch.parameters import PARTS
from warploom.arch.pipes import PIPE_PARAMETERS


def test_presets_are_bundled_and_named_after_their_file():
    assert presets() == ["fermi", "gtx480", "kepler", "maxwell", "narrow", "pascal", "small"]
    assert [SmConfig.preset(name).name for name in presets()] == presets()


def test_narrow_has_the_register_file_of_the_seed():
    """[RADAIDEH], Table 3.5: 128 KB in four banks, four collectors, 48 warps, eight blocks, two schedulers."""
    narrow = SmConfig.preset("narrow")
    assert narrow == SmConfig()
    assert narrow.register_file_bytes == 128 * 1024
    assert (narrow.banks, narrow.collectors, narrow.warps, narrow.blocks, narrow.schedulers) == (4, 4, 48, 8, 2)
    assert narrow.l1_sets * narrow.l1_ways * narrow.line_bytes == 16 * 1024


def test_fermi_has_the_pipelines_of_the_seed():
    """[RADAIDEH], Table 3.5, and section 2.1.5: two warp instructions dispatched into the SPUs at once, each to half of
    the 32 over two cycles; three kinds of pipelines in parallel, each with a result."""
    narrow, fermi = SmConfig.preset("narrow"), SmConfig.preset("fermi")
    same = [field.name for field in dataclasses.fields(SmConfig)
            if field.name not in ("name", "issue_ports", "arrival_delay", "turnaround", "pipes")]
    assert all(getattr(fermi, name) == getattr(narrow, name) for name in same)
    assert (fermi.scheduler, fermi.shared_bytes) == (Scheduler.TWO_LEVEL, 48 * 1024)
    assert fermi.issue_ports == fermi.schedulers
    assert [(pipe.name, pipe.lanes) for pipe in fermi.pipes] == [("sp0", 16), ("sp1", 16), ("sfu", 32), ("mem", 32)]
    assert len(fermi.dispatch_ports) == len(fermi.write_paths) == len(fermi.pipes)
    assert all(pipe.classes == kind.classes for pipe, kind in zip(fermi.pipes[1:], narrow.pipes, strict=True))
    intervals = [fermi.timing_of(kind).interval for kind in (TimingClass.INT_ADD, TimingClass.SFU, TimingClass.MEM)]
    assert intervals == [2, 8, 2]


def test_gtx480_is_the_machine_of_gpgpu_sim():
    """GPGPU-Sim's tested GTX 480: two GTO schedulers that issue one instruction each; pipeline widths of 2 for SP, 1
    for SFU and 1 for MEM; two results a cycle for SP and SFU together; collectors 6, 8 and 2. With the four banks of
    [RADAIDEH], Table 3.5."""
    fermi, gtx480 = SmConfig.preset("fermi"), SmConfig.preset("gtx480")
    different = ("name", "scheduler", "collectors", "sfu_collectors", "mem_collectors", "pipes")
    same = [field.name for field in dataclasses.fields(SmConfig) if field.name not in different]
    assert all(getattr(gtx480, name) == getattr(fermi, name) for name in same)
    assert (gtx480.warps, gtx480.blocks, gtx480.register_file_bytes, gtx480.banks) == (48, 8, 32 * 1024 * 4, 4)
    assert (gtx480.schedulers, gtx480.issue_ports, gtx480.scheduler) == (2, 2, Scheduler.GTO)
    assert [len(numbers) for numbers in gtx480.collector_sets] == [6, 8, 2]
    assert [(pipe.kind, pipe.lanes) for pipe in gtx480.pipes] == [
        (Pipe.SP, 32), (Pipe.SP, 32), (Pipe.SFU, 32), (Pipe.MEM, 32)]
    assert len(gtx480.dispatch_ports) == 4
    assert gtx480.write_paths == ((0, 2), (1,), (3,)) and gtx480.rotating_paths == 2
    assert [gtx480.pipes[0].classes[f"int_{name}"] for name in ("add", "max", "mul", "mad")] == [
        (4, 1), (13, 2), (4, 2), (5, 1)]
    assert [gtx480.pipes[0].classes[f"fp_{name}"] for name in ("add", "max", "mul", "mad")] == [
        (4, 1), (13, 2), (4, 1), (5, 1)]
    assert gtx480.pipes[2].classes == {
        "int_div": (145, 8), "fp_div": (39, 4), "dp_add": (8, 8), "dp_max": (19, 16), "dp_mul": (8, 8),
        "dp_mad": (8, 8), "dp_div": (330, 130), "sfu": (8, 8)}
    assert gtx480.timing_of(TimingClass.MEM).interval == 1
    assert (gtx480.shared_latency, gtx480.l1_latency, gtx480.memory_latency) == (26, 35, 120 + 100)
    assert (gtx480.l1_sets, gtx480.line_bytes, gtx480.l1_ways, gtx480.mshrs, gtx480.mshr_merges) == (
        32, 128, 4, 32, 8)


def test_maxwell_is_one_core_of_the_seed():
    """[RADAIDEH], Table 4.1: a quarter of 256 KB in 16 banks of 128 B, 16 collectors, 64 warps, a scheduler, 32 SPUs,
    8 SFUs, 8 load/store units; all pipelines may start in one cycle."""
    maxwell = SmConfig.preset("maxwell")
    assert maxwell.register_file_bytes == 256 * 1024 // 4
    assert (maxwell.banks, maxwell.rows, maxwell.collectors) == (16, 32, 16)
    assert (4 * maxwell.warps, 4 * maxwell.shared_bytes, maxwell.schedulers) == (64, 96 * 1024, 1)
    assert maxwell.scheduler is Scheduler.TWO_LEVEL
    assert maxwell.l1_sets * maxwell.l1_ways * maxwell.line_bytes == 16 * 1024 // 4
    assert [maxwell.timing_of(slow).interval for slow in (TimingClass.SFU, TimingClass.MEM)] == [32 // 8, 32 // 8]
    assert [(pipe.kind, pipe.lanes, pipe.dispatch_port) for pipe in maxwell.pipes] == [
        (Pipe.SP, 32, 0), (Pipe.SFU, 32, 1), (Pipe.MEM, 32, 2)]


def test_pascal_is_the_sm_of_the_seed():
    """[BOW], section II and Table II: 256 KB in 32 banks of 8 KB, 32 warps and collectors, GTO, 16 blocks, 128 lanes;
    of four schedulers each may issue (one instruction of the two in the paper)."""
    pascal = SmConfig.preset("pascal")
    assert pascal.register_file_bytes == 256 * 1024
    assert (pascal.banks, pascal.rows * 128, pascal.collectors) == (32, 8 * 1024, 32)
    assert (pascal.warps, pascal.blocks, pascal.scheduler, pascal.schedulers) == (32, 16, Scheduler.GTO, 4)
    assert pascal.issue_ports == pascal.schedulers
    assert sum(pipe.lanes for pipe in pascal.pipes if pipe.kind is Pipe.SP) == 128
    assert len(pascal.dispatch_ports) == len(pascal.pipes) == 6
    assert pascal.l1_sets * pascal.l1_ways * pascal.line_bytes == 48 * 1024
    assert pascal.shared_bytes == 96 * 1024


@pytest.mark.parametrize("bypass", ["bow", "bow_wr", "bow_hints"])
def test_collectors_follow_the_warps_with_a_window(bypass):
    config = SmConfig().with_settings([f"bypass={bypass}"])
    assert config.collectors == config.warps == 48
    assert SmConfig.from_toml(config.to_toml()) == config


@pytest.mark.parametrize(("settings", "message"), [
    (["bypass=bow_wr"], "transient = on and bypass = bow_wr disagree: the compiler's hints say"),
    (["bypass=bow_hints", "entries=6"], "transient = on and entries = 6 disagree: .* window = 3 needs 12"),
    (["bypass=bow_hints", "window=4"], "transient = on and entries = 12 disagree: .* window = 4 needs 16"),
])
def test_transient_values_without_rows_need_hints_and_all_entries(settings, message):
    assert SmConfig().with_settings(["bypass=bow_hints", "transient=on"]).has_unallocated
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(["transient=on", *settings])


@pytest.mark.parametrize(("settings", "delay"), [
    ("bypass=bow", False), ("bypass=bow coalescing=on", True), ("bypass=bow gating=cross_lane", False),
    ("bypass=bow_wr gating=in_lane", True), ("bypass=bow_hints affine=abm", False), ("bypass=bow_hints", False),
    ("coalescing=on gating=in_lane", False), ("bypass=bow_hints coalescing=on window_delay=off", False),
    ("bypass=bow window_delay=on", True), ("window_delay=on", False), ("bypass=bow read_arbiter=pipelined", True),
    ("bypass=bow_hints read_arbiter=pipelined coalescing=on", True),
])
def test_windows_have_a_delay_where_their_paths_would_be_too_long(settings, delay):
    config = SmConfig.preset("small").with_settings(settings.split())
    assert config.has_window_delay is delay
    assert config.with_settings(["bypass=off", "read_arbiter=wavefront"]).has_window_delay is False
    assert config.yields_to_pending == (delay and "coalescing" in settings)


@pytest.mark.parametrize(("settings", "instead"), [
    ("bypass=off", "read_arbiter=wavefront"), ("bypass=rfc", "read_arbiter=wavefront"),
    ("window_delay=off", "window_delay=auto"), ("bank_ports=2", "read_arbiter=wavefront"),
])
def test_reads_in_two_cycles_are_refused_where_they_are_not_possible(settings, instead):
    machine = SmConfig().with_settings(["bypass=bow", "read_arbiter=pipelined"])
    with pytest.raises(ConfigError, match=f"read_arbiter = pipelined.*use {instead.replace('=', ' = ')}"):
        machine.with_settings(settings.split())
    machine.with_settings([*settings.split(), instead])


@pytest.mark.parametrize("bypass", ["off", "rfc"])
def test_collectors_are_shared_without_a_window(bypass):
    assert SmConfig().with_settings([f"bypass={bypass}"]).collectors == 4


@pytest.mark.parametrize(("affine", "bypass", "slot"), [
    ("a", "off", False), ("ab", "off", False), ("abm", "off", True), ("abm", "bow", False), ("off", "off", False),
])
def test_loads_have_a_place_of_their_own_with_abm_and_without_a_window(affine, bypass, slot):
    config = SmConfig().with_settings([f"affine={affine}", f"bypass={bypass}"])
    assert config.has_address_slot == slot
    assert config.holders == config.collectors + slot


def test_affine_registers_are_divided_among_the_schedulers():
    config = SmConfig().with_settings(["affine=a", "schedulers=4"])
    assert config.affine_entries * config.schedulers == config.banks * config.rows


@pytest.mark.parametrize("name", presets())
def test_toml_round_trip(name):
    config = SmConfig.preset(name)
    assert SmConfig.from_toml(config.to_toml()) == config


def timings(config: SmConfig) -> dict[TimingClass, Timing]:
    return {timing_class: config.timing_of(timing_class) for timing_class in TimingClass}


def test_settings_change_fields_and_single_classes():
    config = SmConfig.preset("small").with_settings(["scheduler=gto", "layout=wid", "banks=4", "timing.int_add=[6, 2]"])
    assert config.scheduler is Scheduler.GTO
    assert config.layout is Layout.WID
    assert config.banks == 4
    assert timings(config) == {**timings(SmConfig()), TimingClass.INT_ADD: Timing(6, 2)}


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
        ("bypass=always", "bypass = 'always': must be one of off, bow, bow_wr, bow_hints, rfc"),
        ("window=1", "window = 1: must be a whole number from 2 to 8"),
        ("affine=all", "affine = 'all': must be one of off, a, ab, abm"),
        ("engine_lanes=6", "engine_lanes = 6: must be a power of two"),
        ("engine_lanes=16", "engine_lanes = 16: must be a whole number from 1 to 8"),
        ("front_end_interval=0", "front_end_interval = 0: must be a whole number from 1 to 8"),
        ("entries=3", "entries = 3: must be a whole number from 4 to 32"),
        ("colectors=4", "'colectors' is not a configuration field"),
        ("timing.int_add=[3, 1]", "pipes.sp.classes.int_add latency = 3: must be a whole number from 4 to 64"),
        ("timing.int_add=4", "pipes.sp.classes.int_add = 4: must be [latency, interval]"),
        ("timing.int_ad=[4, 1]", "timing.int_ad: must be one of int_add, "),
        ("timing.int_ad=[4, 1]", "; nearest: int_mad, int_add"),
        ("sp.lanes=33", "pipes.sp.lanes = 33: must be a whole number from 1 to 32"),
        ("sp.lanez=16", "pipes: 'lanez' is not a field of a pipe; fields are name, lanes, sharing, write_path, "),
        ("pipes.alu.lanes=16", "pipes.alu.lanes: no such pipe; pipes are sp, sfu, mem"),
        ("sp.credits=1", "pipes.sp.credits = 1: must be 0: its results come in a fixed cycle"),
        ("sfu.credits=0", "pipes.sfu.credits = 0: must be a whole number from 1 to 255"),
        ("sp.write_path=1", "pipes.sp.result_queue = 0: must be at least 1 unless the pipe is the only one"),
        ("mem.write_path=2", "pipes: write_path 0, 0, 2: must be numbered from 0 without gaps"),
        ("sfu.dispatch_port=2", "pipes: dispatch_port 0, 2, 0: must be numbered from 0 without gaps"),
        ("mem.result_queue=2", "pipes.mem.result_queue = 2: must be 0: its results wait in the pipe"),
        ("pipes.sp.copy=sp2", "pipes.sp.result_queue = 0: must be at least 1 unless the pipe is the only one"),
        ("pipes.sfu.copy=mem", "pipes: sp, sfu, mem, mem: every pipe needs a name of its own"),
        ("pipes.mem.copy=memo", "pipes: sp, sfu, mem, memo: must have each of these classes: "),
        ("pipes.sp.copy=mem", "pipes: sp, mem, sfu, mem: every pipe needs a name of its own"),
        ("sp.name=mem", "pipes: mem, sfu, mem: every pipe needs a name of its own"),
        ("sp.name=memory", "pipes: name = 'memory': must be a word of small letters"),
        ("sp.classes=3", "pipes.sp.classes = 3: must be a table"),
        ("sp.name=µ", "pipes: name = 'µ': must be a word of small letters"),
        ("sp.name=3", "pipes: name = 3: must be a word"),
        ("sp.classes.tensor=[4, 1]", "pipes.sp.classes: tensor: must be one of int_add, "),
        ("pipes=3", "pipes = 3: must be a list of pipes"),
        ("pipes=[3]", "pipes: 3: must be a table, begun with [[pipes]]"),
        ("pipes=[]", "pipes: none: must have each of these classes"),
        ("sfu_queue=3", "sfu_queue is not a configuration field: it is pipes.sfu.credits"),
        ("pipes.memory_queue=3", "memory_queue is not a configuration field: it is pipes.mem.credits"),
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
    ["gating=cross_lane", "coalescing=on", "alignment=write"], ["bypass=bow"], ["bypass=bow_wr", "entries=6"],
    ["bypass=bow_hints", "coalescing=on", "alignment=write", "gating=cross_lane"], ["affine=abm"],
    ["affine=abm", "bypass=bow_hints", "coalescing=on", "alignment=write", "gating=cross_lane"],
])
def test_configurations_with_hardware(settings):
    SmConfig().with_settings(settings).check_hardware()


@pytest.mark.parametrize(("settings", "message"), [
    (["coalescing=on", "alignment=ideal"], "alignment = ideal: a bound of the golden model, without hardware"),
    (["coalescing=on", "alignment=upper_bound"], "alignment = upper_bound: a bound of the golden model"),
    (["coalescing=corf", "layout=wid"], "coalescing = corf: a comparator of the golden model"),
    (["coalescing=corf_plus", "layout=wid"], "coalescing = corf_plus: a comparator of the golden model"),
    (["bypass=rfc"], "bypass = rfc: a comparator of the golden model"),
])
def test_configurations_of_the_model_only(settings, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(settings).check_hardware()


@pytest.mark.parametrize(("settings", "message"), [
    (["gating=active", "coalescing=corf", "layout=wid"], "gating = active and coalescing = corf disagree"),
    (["gating=in_lane", "coalescing=corf_plus", "layout=wid"], "gating = in_lane and coalescing = corf_plus disagree"),
    (["gating=active", "coalescing=on", "alignment=ideal"], "gating = active and alignment = ideal disagree"),
])
def test_configurations_without_columns_to_gate(settings, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(settings)


@pytest.mark.parametrize(("settings", "message"), [
    (["bypass=bow", "coalescing=corf", "layout=wid"], "bypass = bow and coalescing = corf disagree"),
    (["bypass=bow_wr", "coalescing=on", "alignment=ideal"], "bypass = bow_wr and alignment = ideal disagree"),
    (["bypass=rfc", "coalescing=on"], "bypass = rfc and coalescing = on disagree"),
    (["bypass=rfc", "gating=active"], "bypass = rfc and gating = active disagree"),
])
def test_settings_incompatible_with_bypassing(settings, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(settings)


@pytest.mark.parametrize(("settings", "message"), [
    (["affine=a", "coalescing=corf_plus", "layout=wid"], "affine = a and coalescing = corf_plus disagree"),
    (["affine=ab", "coalescing=on", "alignment=upper_bound"], "affine = ab and alignment = upper_bound disagree"),
    (["affine=abm", "bypass=rfc"], "affine = abm and bypass = rfc disagree"),
    (["affine=abm", "schedulers=3"], "affine = abm and schedulers = 3 disagree: .* use a power of two"),
])
def test_settings_incompatible_with_the_affine_unit(settings, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(settings)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("\ufeffbanks = 4", encoding="utf-8")
    assert SmConfig.preset(str(path)).banks == 4


def test_unknown_preset_and_missing_file_name_the_remedy(tmp_path):
    with pytest.raises(ConfigError, match="must be one of fermi, gtx480, kepler, maxwell, narrow, pascal, small"):
        SmConfig.preset("volta")
    with pytest.raises(ConfigError, match=r"none\.toml: No such file.*name a preset"):
        SmConfig.preset(str(tmp_path / "none.toml"))
    broken = tmp_path / "broken.toml"
    broken.write_text("banks = = 3")
    with pytest.raises(ConfigError, match="not TOML"):
        SmConfig.preset(str(broken))


@pytest.mark.parametrize(("name", "message"), [
    pytest.param(10**5000, "a value with more than 4,300 digits", id="digits"), (b"fermi", "b'fermi'"), (None, "None")])
def test_a_preset_is_named_by_text(name, message):
    with pytest.raises(ConfigError, match=rf"^preset = {message}: must be one of .* ending in \.toml$"):
        SmConfig.preset(name)


@pytest.mark.parametrize("text", [
    "[register_file]\nbanks = 8\n[front_end]\nwarps = 16", "banks = 8\nwarps = 16",
])
def test_fields_stand_in_the_table_of_their_part_or_alone(text):
    config = SmConfig.from_toml(text)
    assert (config.banks, config.warps) == (8, 16)


def test_settings_may_name_the_part():
    settings = ["register_file.banks=8", "pipes.timing.int_add=[6, 2]", "affine.affine=abm", "front_end.warps=16"]
    config = SmConfig().with_settings(settings)
    assert (config.banks, config.affine, config.warps) == (8, Affine.ABM, 16)
    assert config.timing_of(TimingClass.INT_ADD) == Timing(6, 2)


@pytest.mark.parametrize(("text", "message"), [
    ("[operands]\nbanks = 8", r"operands\.banks is not a configuration field: it is register_file\.banks"),
    ("banks = 8\n[register_file]\nbanks = 8", "banks is given twice"),
    ("[operands]\nbnaks = 8", "'bnaks' is not a configuration field"),
    ("[registers]\nbanks = 8", "'registers' is not a configuration field"),
])
def test_fields_in_the_wrong_place(text, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig.from_toml(text)


SP = "[[pipes]]\nname = 'sp'\n"


@pytest.mark.parametrize(("text", "message"), [
    ("[pipes]\nsfu_queue = 3", r"pipes is a list: begin each pipe with \[\[pipes\]\]; warploom presets "),
    ("[pipes.timing]\nint_add = [6, 2]", "pipes is a list"),
    ("[timing]\nint_add = [6, 2]", "timing is not a configuration field: it is the classes of the pipes"),
    (SP, "'sp' has no classes: every pipe needs a name and classes"),
    ("[[pipes]]", "pipes: a pipe has no name: every pipe needs a name and classes"),
    (SP + "[pipes.classes]\nint_add = [4, 1]", "sp: must have each of these classes: int_add, int_max"),
    (SP + "depth = 3", "'depth' is not a field of a pipe"),
])
def test_pipes_that_there_is_no_machine_for(text, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig.from_toml(text)


def test_pipes_are_a_list_in_a_file():
    text = SmConfig().to_toml().replace('name = "sfu"', 'name = "special"').replace("credits = 32", "credits = 5")
    config = SmConfig.from_toml(text)
    assert config.writers == ("sp", "special", "mem")
    assert config.pipes[Pipe.SFU].credits == 5
    assert SmConfig.from_toml(config.to_toml()) == config


@pytest.mark.parametrize(("settings", "paths"), [
    ([], ((0, 1), (2,))), (["mem.write_path=0"], ((0, 1, 2),)), (["sfu.write_path=1"], ((0,), (1, 2))),
    (["mem.write_path=2", "pipes.sfu.write_path=1"], ((0,), (1,), (2,))),
    (["sfu.write_path=1", "mem.write_path=0"], ((0, 2), (1,))),
])
def test_pipes_share_write_paths(settings, paths):
    assert SmConfig().with_settings(settings).write_paths == paths


TWO_SP = ["pipes.sp.result_queue=2", "pipes.sp.copy=sp2", "sp2.write_path=1", "mem.write_path=2"]


def test_a_warp_has_the_pipe_of_its_scheduler():
    config = SmConfig().with_settings([*TWO_SP, "sp2.dispatch_port=1", "sp2.lanes=16"])
    assert config.writers == ("sp", "sp2", "sfu", "mem")
    assert [config.serving(TimingClass.FP_MAD, warp) for warp in range(4)] == [(0,), (1,), (0,), (1,)]
    assert [config.serving(each, 5) for each in (TimingClass.SFU, TimingClass.MEM)] == [(2,), (3,)]
    assert config.dispatch_ports == {"dispatch_0": (0, 2, 3), "dispatch_1": (1,)}
    assert (config.write_paths, config.rotating_paths) == (((0, 2), (1,), (3,)), 2)
    assert [pipe.timing_of(TimingClass.INT_MUL) for pipe in config.pipes[:2]] == [Timing(4, 2), Timing(5, 4)]
    assert SmConfig.from_toml(config.to_toml()) == config


@pytest.mark.parametrize(("settings", "message"), [
    ([*TWO_SP, "schedulers=1"], "pipes: 2 of one class are owned, but schedulers = 1: must not be more"),
    ([*TWO_SP, "sp2.write_path=0", "mem.write_path=1"], "pipes: sp, sp2 share a write path: each needs another"),
    ([*TWO_SP, "sp2.write_path=2", "mem.write_path=1"], r"pipes\.mem\.write_path = 1: must be the last one, or"),
])
def test_requirements_of_several_sp_pipes(settings, message):
    with pytest.raises(ConfigError, match=message):
        SmConfig().with_settings(settings)


def test_a_warp_takes_turns_on_few_lanes():
    config = SmConfig().with_settings(["pipes.sp.lanes=8", "sp.classes.int_mul=[4, 2]"])
    assert config.timing_of(TimingClass.INT_MUL) == Timing(4 + 3, 2 * 4)
    assert config.timing_of(TimingClass.SFU) == SmConfig().timing_of(TimingClass.SFU)
    with pytest.raises(ConfigError, match=r"pipes\.sfu\.classes\.dp_div interval on 3 lanes = 1430: must be .* 1023"):
        config.with_settings(["sfu.lanes=3"])


def test_a_setting_of_the_wrong_part():
    with pytest.raises(ConfigError, match=r"--set: memory\.warps is not a configuration field: it is front_end\.warps"):
        SmConfig().with_settings(["memory.warps=4"])


def test_every_field_says_what_it_means():
    assert PARAMETERS.keys() == {field.name for field in dataclasses.fields(SmConfig)} - {"name"}
    for name, parameter in PARAMETERS.items():
        assert parameter.part in PARTS, name
        assert parameter.meaning and parameter.legal and parameter.source, name
        low_and_high = parameter.low < parameter.high or parameter.choices is not None or name == "pipes"
        assert low_and_high, name
    assert {"name", *PIPE_PARAMETERS} == {field.name for field in dataclasses.fields(SmConfig().pipes[0])}


def test_configuration_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SmConfig().banks = 8


@pytest.mark.parametrize(("first", "second"), [("sp", "sfu"), ("sfu", "mem")])
def test_a_pipe_has_classes_of_one_kind(first: str, second: str) -> None:
    """Not those of two pipes together."""
    small = SmConfig.preset("small")
    of = {pipe.name: pipe for pipe in small.pipes}
    both = dataclasses.replace(of[first], classes=of[first].classes | of.pop(second).classes)
    pipes = tuple(both if pipe.name == first else pipe for pipe in of.values())
    with pytest.raises(ConfigError, match=r"pipes: .*: must have each of these classes: int_add"):
        dataclasses.replace(small, pipes=pipes)
