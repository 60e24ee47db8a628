"""The bench of a unit catches bugs planted in it. On demand: `pytest -m mutation`.

A bug is caught if the bench reports that the hardware is wrong, and the same bench, with the same seed, settings and
test, passes on the unit without the bug.
"""

import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from inspect import isclass
from pathlib import Path
from types import ModuleType

import pytest
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import MECHANISMS
from warploom.kernels.library import kernel
from warploom.rtl import fg_simt, l1
from warploom.rtl import float as float_units
from warploom.rtl.bank import Bank
from warploom.rtl.corf.allocation import Allocator
from warploom.rtl.fg_simt.engine import Engine
from warploom.rtl.fg_simt.issue import IssueUnit
from warploom.rtl.fg_simt.whole import WholeEngine
from warploom.rtl.l1.bank import CacheBank
from warploom.rtl.l1.data_cache import DataCache
from warploom.rtl.l1.whole import L1
from warploom.rtl.verilog import UNITS
from warploom.tb import lockstep as tb_lockstep
from warploom.tb import runner
from warploom.tb.corf.test_allocation import ROWS
from warploom.tb.fg_simt.issuing_lanes import IssuingLanes
from warploom.tb.fg_simt.test_issue import SMALL as SMALL_ISSUE
from warploom.tb.fg_simt.test_whole_engine import LINES as FEW_LINES
from warploom.tb.gating.test_trivial import DecodedDetector
from warploom.tb.l1.test_bank import BANK
from warploom.tb.l1.test_data_cache import SMALL as SMALL_CACHE
from warploom.tb.l1.test_whole import SMALL as SMALL_L1
from warploom.tb.lockstep import REPLAY, LockstepError, ReplayError, lockstep
from warploom.tb.mutants import LockstepMutant, Mutant
from warploom.tb.seeds import seed_of
from warploom.tb.verdict import MISMATCH, caught, raised

CONFIG = SmConfig.preset("small")

ALL: list[Mutant] = [mutant for mechanism in MECHANISMS for path in mechanism.bugs
                     for mutant in pkgutil.resolve_name(path)]

IN_LOCKSTEP: list[LockstepMutant] = [mutant for mechanism in MECHANISMS for path in mechanism.lockstep_bugs
                                     for mutant in pkgutil.resolve_name(path)]

FOR_BENCHES: dict[str, Callable[[SmConfig], wiring.Component]] = {
    "Engine": lambda config: Engine(probe=True),
    "TrivialDetector": lambda config: DecodedDetector(), "Allocator": lambda config: Allocator(rows=ROWS),
    "CacheBank": lambda config: CacheBank(**BANK), "DataCache": lambda config: DataCache(**SMALL_CACHE),
    "L1": lambda config: L1(**SMALL_L1), "IssueUnit": lambda config: IssueUnit(**SMALL_ISSUE),
    "Lanes": lambda config: IssuingLanes(),
    "WholeEngine": lambda config: WholeEngine(lines=FEW_LINES, probe=True),
}
"""Units that benches build differently from users."""


def test_every_unit_has_a_mutant() -> None:
    assert {mutant.unit for mutant in ALL} == set(UNITS)


@pytest.mark.parametrize("package", [fg_simt, l1, float_units], ids=lambda package: package.__name__)
def test_every_part_has_a_mutant(package: ModuleType) -> None:
    modules = [import_module(f"{package.__name__}.{module.name}") for module in pkgutil.iter_modules(package.__path__)]
    parts = {part for module in modules for part in vars(module).values()
             if isclass(part) and issubclass(part, wiring.Component) and part.__module__ == module.__name__}
    units = {pkgutil.resolve_name(unit.component) for unit in UNITS.values()}
    assert parts and parts <= units | {mutant.part for mutant in ALL}


@cache
def passes(settings: tuple[str, ...], unit: str, bench: str, seed: int, *, fpga: bool = False) -> bool:
    """True if a bench passes on a unit without a bug; else raises `BenchError`."""
    config = CONFIG.with_settings(list(settings))
    component = FOR_BENCHES[unit](config) if unit in FOR_BENCHES else None
    _run(runner.build(config, unit, component=component, fpga=fpga), bench, seed)
    return True


def is_caught(mutant: Mutant, seed: int) -> bool:
    """Whether the bench of a mutant finds it wrong."""
    config = CONFIG.with_settings(list(mutant.settings))
    made = runner.build(config, mutant.unit, component=mutant.make(config), fpga=mutant.fpga)
    with pytest.raises(runner.BenchError) as failed:
        _run(made, mutant.bench, seed, asserted=False)  # an assertion would end it before the bench finds a mismatch
    print(failed.value)
    return caught(failed.value.raised)


def _run(made: runner.Build, bench: str, seed: int, *, asserted: bool = True) -> None:
    module, _, testcase = bench.partition("::")
    runner.run(made, module, seed, testcase=testcase or None, asserted=asserted)


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: f"{mutant.unit} {mutant.bug}")
def test_bench_catches(mutant: Mutant, base: int) -> None:
    seed = seed_of(f"{mutant.unit} {mutant.settings} {mutant.bench}", base)
    assert passes(mutant.settings, mutant.unit, mutant.bench, seed, fpga=mutant.fpga)
    assert is_caught(mutant, seed)


@cache
def agrees(settings: tuple[str, ...], name: str, seed: int) -> bool:
    """True if the replay of a kernel on hardware without a bug agrees with the model; else raises `LockstepError`."""
    done = lockstep(CONFIG.with_settings(list(settings)), kernel(name).load("tiny"), seed, replay=True)
    return done.by == REPLAY


@pytest.mark.mutation
@pytest.mark.parametrize("mutant", IN_LOCKSTEP, ids=lambda mutant: mutant.bug)
def test_lockstep_catches(mutant: LockstepMutant, monkeypatch: pytest.MonkeyPatch, base: int) -> None:
    """In the replay, and in the bench after it, in the same cycle."""
    monkeypatch.setattr(tb_lockstep, "_record", lambda *_: None)  # a waveform is another build
    config, seed = CONFIG.with_settings(list(mutant.settings)), seed_of(f"{mutant.kernel} {mutant.settings}", base)
    assert agrees(mutant.settings, mutant.kernel, seed)
    with pytest.raises(LockstepError, match=mutant.symptom) as caught:
        lockstep(config, kernel(mutant.kernel).load("tiny"), seed, component=mutant.make(config), replay=True)
    assert caught.value.__cause__ is not None
    replayed = caught.value.__cause__.__cause__
    assert isinstance(replayed, ReplayError) and replayed.cycle == caught.value.cycle


# ---------------------------------------------------------------- what is no catch

CORRECT = Mutant("Bank", "warploom.tb.test_bank", "none", lambda config: Bank(rows=config.rows))


@pytest.mark.rtl
@pytest.mark.parametrize("bench", [
    "warploom.tb.test_bank::random_acesses", "warploom.tb.no_such_bench", "warploom.tb.test_arbiter"])
def test_a_bench_that_fails_without_a_mismatch_catches_nothing(bench: str, seed: int) -> None:
    assert not is_caught(replace(CORRECT, bench=bench), seed)


def test_what_tests_raise_is_read_from_their_results(tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    assert raised(results) == {}
    results.write_text("<testsuites><testsuite>")  # the simulator crashed
    assert raised(results) == {}
    results.write_text('''<testsuites><testsuite><testcase name="a"/><testcase name="b"><skipped/></testcase>
        <testcase name="c"><failure type="KeyError"/></testcase><testcase name="d"><error/></testcase>
        </testsuite></testsuites>''')
    assert raised(results) == {"a": "", "c": "KeyError", "d": "an unknown error"}


@pytest.mark.parametrize(("types", "verdict"), [
    ([], False), ([""], False), (["KeyError"], False), (["AssertionError"], False), ([MISMATCH], True),
    (["", MISMATCH], True), ([MISMATCH, "KeyError"], False),
])
def test_only_mismatches_count(types: list[str], verdict: bool) -> None:
    assert caught({str(number): found for number, found in enumerate(types)}) == verdict
