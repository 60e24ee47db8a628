"""The evaluation: definitions checked with numbers, figures by their bytes."""

import dataclasses

import pytest
from support.runs import run, statistics

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Alignment, Coalescing, Gating, Layout
from warploom.evaluation import charts, locality, metrics, tables, units
from warploom.evaluation.affine import experiment as affine
from warploom.evaluation.affine import table as affine_table
from warploom.evaluation.bypassing import experiment as bypassing
from warploom.evaluation.characterisation import experiment as characterisation
from warploom.evaluation.coalescing import experiment as coalescing
from warploom.evaluation.figures import Figure, Run
from warploom.evaluation.gating import experiment as gating
from warploom.evaluation.haws import experiment as haws
from warploom.evaluation.placement import experiment as placement
from warploom.evaluation.pressure import HEADINGS, pressure
from warploom.evaluation.published import Published, published
from warploom.evaluation.tfet import experiment as tfet
from warploom.golden_model.values import Values

NARROW = SmConfig.preset("narrow")
SMALL = SmConfig.preset("small")


# ------------------------------------------------------------------ definitions

BASELINE = statistics(
    bank_requests=100, bank_accesses=100, operands_stored=60, collector_writes=60, ipc=0.5, cycles=200,
    operands=[7, 10, 20, 10], source_widths=[40, 10, 0, 10], destination_widths=[20, 0, 0, 20],
    bank_reads=[30, 30], bank_writes=[15, 25], column_reads=480, column_writes=320,
)
OURS = dataclasses.replace(
    BASELINE, bank_accesses=80, collector_writes=48, ipc=0.6, cycles=160,
    bank_reads=[20, 28], bank_writes=[22, 26], column_reads=360, column_writes=240,
    coalesced={"read_read": 12, "write_write": 2, "read_write": 6},
)


@pytest.mark.parametrize(("metric", "expected"), [
    (metrics.accesses_saved, 20.0),  # 80 of 100
    (metrics.bank_bandwidth_gained, 25.0),  # 1.25 requests an access, not 1
    (metrics.collector_writes_saved, 20.0),  # 48 of 60
    (metrics.collector_bandwidth_gained, 25.0),  # 60/48 operands a write
    (metrics.ipc_gained, 20.0),
    (metrics.bank_reads_saved, 20.0),  # 48 of 60
    (metrics.bank_writes_saved, -20.0),  # 48 instead of 40
    (metrics.column_reads_saved, 25.0),
    (metrics.column_writes_saved, 25.0),
])
def test_comparisons(metric, expected):
    assert metric(OURS, BASELINE) == pytest.approx(expected)
    assert metric(BASELINE, BASELINE) == pytest.approx(0)


@pytest.mark.parametrize(("value", "expected"), [
    (metrics.width_share(BASELINE.source_widths, 4), 100 * 10 / 60),
    (metrics.width_share(BASELINE.source_widths, 1), 100 * 40 / 60),
    (metrics.operand_share(BASELINE, 2), 50.0),  # instructions that read nothing do not count
    (metrics.bank_bandwidth_used(BASELINE), 50.0),  # 40 + 20 + 40 + 20 + 80 bytes of 4 x 100
    (metrics.bank_bandwidth_used(OURS), 62.5),  # of 4 x 80
    (metrics.collector_bandwidth_used(BASELINE), 100 * 100 / 240),
    (metrics.coalesced_share(OURS, "read_read"), 60.0),
    (metrics.coalesced_share(OURS, "write_write"), 10.0),
    (metrics.coalesced_share(BASELINE, "write_write"), 0.0),
])
def test_shares(value, expected):
    assert value == pytest.approx(expected)


def test_of_nothing_nothing_is_saved():
    assert metrics.saved(5, 0) == 0


def test_used_bandwidth_grows_as_bandwidth_is_gained():
    ratio = metrics.bank_bandwidth_used(OURS) / metrics.bank_bandwidth_used(BASELINE)
    assert ratio == pytest.approx(1 + metrics.bank_bandwidth_gained(OURS, BASELINE) / 100)


COALESCING = dataclasses.replace(NARROW, coalescing=Coalescing.ON)


# ------------------------------------------------------------------ figures

NUMBERS = [f"Fig. {n}" for n in (
    "3.3a", "3.3b", "3.4a", "3.4b", "3.5", "3.21", "3.22", "3.23", "3.24", "3.25", "3.26", "3.27", "3.28", "3.29",
    "3.30", "3.31", "3.32", "3.33, whole GPU", "3.34, whole GPU",
)] + [f"Table 3.7, {row}" for row in ("IPC", "whole GPU", "accesses")]

FIGURES = [*coalescing.figures(), *gating.figures(), *bypassing.figures(), *affine.figures(), *placement.figures(),
           *units.figures(), *locality.figures(), locality.duplicates(), *characterisation.executed_figures(),
           *haws.code_figures(NARROW), *haws.run_figures(), *haws.mode_figures(),
           haws.speed_up("Fig. 5.10, others"), haws.speed_up("Fig. 5.16"),
           *tfet.figures(), *tfet.of_intensive(), *tfet.of_bfs()]


def test_every_figure_of_the_seed_is_there_and_each_has_a_file_of_its_own():
    assert set(NUMBERS) <= {figure.number for figure in coalescing.figures()}
    names = [figure.name for figure in FIGURES]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalnum() for name in names)


def test_shared_units_may_be_as_late_as_divided_ones():
    machines = units.configurations(SmConfig.preset("kepler"))
    for late, even in zip(machines[units.LATER].timed_pipes, machines["even"].timed_pipes, strict=True):
        for each in late.timing_classes:
            assert late.timing_of(each).latency == even.timing_of(each).latency, (late.name, each)
        assert late.timing_of(each).interval * (4 if late.is_shared else 1) == even.timing_of(each).interval


def test_every_published_average_stands_beside_one_of_ours():
    bars = {"Affine, Table 1": set(affine_table.COLUMNS)}
    for figure in FIGURES:
        bars.setdefault(figure.number, set()).update(figure.bars)
    assert len(published()) >= 24
    for number, averages in published().items():
        assert averages.keys() <= bars[number], number


def test_every_figure_measures_every_run_of_the_experiment():
    runs = {"k": {name: Run(config, OURS if "off" not in name else BASELINE, Values()) for name, config in
                  coalescing.configurations(NARROW).items()}}
    found = {figure.name: figure.measure(runs) for figure in coalescing.figures() if "energy" not in figure.title}
    assert found["fig_3_21"].values["ideal"] == {"k": pytest.approx(20)}
    assert found["fig_3_26"].average("baseline") == pytest.approx(50)
    assert found["fig_3_4a"].average("unused") == pytest.approx(50)
    assert found["fig_3_4b"].average("unused") == pytest.approx(100 - 100 * 100 / 240)  # bytes of sources in 60 writes
    assert found["fig_3_26"].average("reg adds") == pytest.approx(12.5)
    assert found["fig_3_26"].average("ideal adds") == pytest.approx(0)
    assert found["fig_3_30"].average("read-write") == pytest.approx(30)
    assert found["table_3_7_accesses"].average("corf_plus") == pytest.approx(20)
    for share in ("fig_3_3a", "fig_3_3b", "fig_3_5", "fig_3_29"):
        assert sum(found[share].average(key) for key in found[share].values) == pytest.approx(100)


def test_a_comparison_is_with_the_baseline_of_the_same_layout():
    runs = {name: run(config, ipc=1.0) for name, config in coalescing.configurations(NARROW).items()}
    runs["wid_off"] = run(NARROW, ipc=0.5)
    found = next(f for f in coalescing.figures() if f.number == "Fig. 3.32").measure({"k": runs})
    averages = {key: found.average(key) for key in found.values}
    assert averages == pytest.approx({"wid_reg": 100, "wid_write": 100, "wshift_reg": 0, "wshift_write": 0})


def test_an_average_is_one_of_percentages():
    figure = Figure("Fig. 3.21", "saved", {"reg": lambda runs: runs["x"].statistics.ipc})
    runs = {name: {"x": run(NARROW, ipc=ipc)} for name, ipc in (("a", 10.0), ("b", 20.0), ("c", 60.0))}
    measured = figure.measure(runs)
    assert measured.average("reg") == pytest.approx(30)
    document = measured.to_json()["series"]["reg"]
    assert document == {"kernels": {"a": 10.0, "b": 20.0, "c": 60.0}, "average": 30.0, "averages": {"average": 30.0},
                        "published": "31.8", "settings": ["x"]}
    grouped = figure.measure(runs, {"two": ["a", "b"], "one": ["c"]})
    assert grouped.averages("reg") == {"two": 15, "one": 60} and grouped.average("reg") == 15


def test_configurations_are_the_twelve_of_the_experiment():
    found = coalescing.configurations(dataclasses.replace(COALESCING, alignment=Alignment.IDEAL, collectors=7))
    assert len(found) == 12
    assert all(config.collectors == 7 for config in found.values())
    off = [name for name, config in found.items() if config.coalescing is Coalescing.OFF]
    assert off == ["wid_off", "wshift_off"]
    assert found["wshift_write"].layout is Layout.WSHIFT
    assert found["wshift_write"].alignment is Alignment.WRITE
    assert found["wid_corf"].coalescing is Coalescing.CORF


def test_how_a_configuration_gates_does_not_matter():
    gated = dataclasses.replace(NARROW, gating=Gating.CROSS_LANE)
    assert coalescing.configurations(gated) == coalescing.configurations(NARROW)


@pytest.mark.parametrize(("entry", "shown"), [(31.8, "31.8"), (9, "9.0"), ("<= 33.8", "<= 33.8"), ("~ 31", "~ 31.0"),
                                              ("4 to 17", "4.0 to 17.0"), ("-1 to 0.5", "-1.0 to 0.5")])
def test_published_averages_keep_their_relation(entry, shown):
    assert str(Published.of(entry)) == shown


@pytest.mark.parametrize("entry", ["about 3", "<= many", "", "4 to", "few to 17"])
def test_published_averages_are_numbers(entry):
    with pytest.raises(ValueError, match=r"relation|float"):
        Published.of(entry)


def test_pressure_accounts_for_every_cycle_of_every_scheduler():
    run = statistics(cycles=100, ipc=0.8, bank_requests=160, bank_conflicts=30, port_conflicts=10,
                     stalls={"collector": 50, "port": 60, "barrier": 7, "memory": 3})
    found = pressure(run, NARROW)  # two schedulers, four banks
    assert list(found) == list(HEADINGS)
    assert list(found.values()) == pytest.approx([0.8, 0.4, 0.25, 40, 25, 30, 5])


def test_pressure_of_a_front_end_with_a_slower_clock():
    """Its two schedulers could pick in 34 of the 100 cycles, and did in a quarter of these."""
    run = statistics(cycles=100, bank_requests=160, stalls={"collector": 17, "port": 17, "barrier": 17})
    found = pressure(run, NARROW.with_settings(["front_end_interval=3"]))
    assert [found[name] for name in ("issuing", "collector", "port", "other")] == [25, 25, 25, 25]


# ------------------------------------------------------------------ charts and tables

STACK = Figure("Fig. 3.3a", "shares", {"4 bytes": lambda runs: 30.0, "1 byte": lambda runs: 70.0}, True)
GROUP = Figure("Fig. 3.31", "gained", {"reg": lambda runs: 10.0, "write": lambda runs: -5.0})


@pytest.mark.parametrize("figure", [STACK, GROUP])
def test_a_chart_is_the_same_bytes_every_time(figure, tmp_path):
    measured = figure.measure({"a": {}, "b": {}})
    first = {path.suffix: path.read_bytes() for path in charts.draw(measured, tmp_path, "tiny")}
    second = {path.suffix: path.read_bytes() for path in charts.draw(measured, tmp_path, "tiny")}
    assert first == second
    assert first[".png"].startswith(b"\x89PNG")
    assert b"<svg" in first[".svg"]
    assert charts.draw(measured, tmp_path, "default")[0].read_bytes() != first[".png"]
    other = dataclasses.replace(figure, title="another").measure({"a": {}, "b": {}})
    assert charts.draw(other, tmp_path, "tiny")[0].read_bytes() != first[".png"]


def test_a_published_bar_is_hatched_and_a_range_is_where_it_is():
    def hatched(number: str, bar: str) -> list[tuple[float, float]]:
        measured = Figure(number, "", {bar: lambda runs: 9.0, "other": lambda runs: 9.0}).measure({"a": {}})
        return [(patch.get_y(), patch.get_height()) for patch in charts._draw(measured, "").axes[0].patches
                if patch.get_hatch()]

    assert hatched("Fig. 3.31", "reg") == [(0, 15.3)]
    assert hatched("Affine, Fig. 5", "8 lanes, fast") == [(4, 13)]


def test_a_table_has_kernels_average_and_what_is_published(capsys):
    tables.show(GROUP.measure({"a": {}, "b": {}}))
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]
    assert lines == [
        ["Fig.", "3.31:", "gained,", "%"], ["kernel", "reg", "write"], ["a", "10.0", "-5.0"], ["b", "10.0", "-5.0"],
        ["average", "10.0", "-5.0"], ["published", "15.3", "-"],
    ]


def test_a_table_has_every_average(capsys):
    measured = GROUP.measure({"a": {}, "b": {}, "c": {}}, {"2 programs": ["a", "b"], "one kernel": ["c"]})
    tables.show(measured)
    tables.show_averages([measured])
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]
    assert lines[5:7] == [["2", "programs", "10.0", "-5.0"], ["one", "kernel", "10.0", "-5.0"]]
    assert lines[-1][-4:] == ["reg", "10.0", "10.0", "15.3"]
    assert "one" in lines[-2] and "programs" in lines[-2]


def test_bars_on_top_of_one_another_have_a_sum(capsys):
    parts = Figure("Fig. 4.7", "saved", {key: lambda runs: 4.0 for key in published()["Fig. 4.7"]}, True)
    tables.show(parts.measure({"a": {}}))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["a", "4.0", "4.0", "4.0", "12.0"] in lines
    assert ["published", "15.0", "15.0", "20.0", "50.0"] in lines


def test_shares_have_no_sum(capsys):
    tables.show(STACK.measure({"a": {}}))
    assert "in all" not in capsys.readouterr().out


def test_the_table_of_averages_has_published_figures_only(capsys):
    tables.show_averages([GROUP.measure({"a": {}})])
    text = capsys.readouterr().out
    assert "15.3" in text
    assert "-5.0" not in text
