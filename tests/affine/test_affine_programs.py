"""Whole programs with an affine unit: every operand, accepted result and predicate of the bundled kernels, and of
random ones, is that of functional execution."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given
from support.random_case import Case
from support.random_programs import BYPASSES, cases, samples, some

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.compiler.compile import compile_file
from warploom.compiler.prepare import prepared
from warploom.golden_model.affine.register_file import AffineRegisterFile
from warploom.golden_model.check import Mismatch
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.kernels.library import kernel, kernels

AFFINES = ("a", "ab", "abm")
ALL = ("off", *BYPASSES)
LIMIT = 1_000_000
"""Cycles."""


def check(case: Case) -> None:
    simulate(case.config, case.execute().trace, check=True, max_cycles=LIMIT)


@pytest.mark.sample(1)
@pytest.mark.parametrize("affine", AFFINES)
def test_random_programs(affine: str) -> None:
    some(20)(given(cases(ALL, [affine]))(check))()


@pytest.mark.long
@pytest.mark.parametrize("affine", AFFINES)
@pytest.mark.parametrize("bypass", ALL)
def test_many_random_programs(affine: str, bypass: str) -> None:
    some(100)(given(cases([bypass], [affine]))(check))()


def accepted_operations(case: Case) -> tuple[Counter[Op], Sm]:
    """The instructions of a case that the affine unit executes, and the SM at its end."""
    sm, found = Sm(case.config, case.execute().trace, check=True), Counter[Op]()
    attempts = defaultdict[int, list[Op]](list)  # by warp, without outcome
    assert sm.datapath.affine is not None
    while True:
        sm.step()
        if sm.finished:
            return found, sm
        for fields in filter(None, sm.inputs.attempts):
            attempts[fields["warp"]].append(Op(fields["op"]))
        for outcome in filter(None, sm.datapath.affine.outcomes):
            if outcome["accepted"]:
                found[attempts[outcome["warp"]].pop(0)] += 1
            else:
                attempts[outcome["warp"]].clear()


@pytest.mark.long
def test_random_programs_reach_everything() -> None:
    """They reach the operations of address arithmetic and control, and all other outcomes of an instruction."""
    operations, counts = Counter[Op](), Counter[str]()
    for case in samples(18, 3, bypasses=ALL, affines=["abm"]):
        found, sm = accepted_operations(case)
        operations += found
        counts.update(vars(sm.decisions.counts) | {"operands": 0})
    print(operations, counts)
    assert operations.keys() >= {Op.S2R, Op.MOV, Op.IADD, Op.ISUB, Op.IMUL, Op.IMAD, Op.SHF, Op.SEL, Op.ISETP, Op.LOP3,
                                 Op.LD}
    for name in ("refused", "suppressed", "expansions", "resolved", "affine_loads", "vector_requests"):
        assert counts[name] >= 5, name


def test_a_stale_tag_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A register that the datapath has written stays compact."""
    monkeypatch.setattr(AffineRegisterFile, "make_generic", lambda *_: None)
    with pytest.raises(Mismatch):
        for case in samples(20, 1, bypasses=["off"], affines=AFFINES):
            check(case)


# ---------------------------------------------------------------- bundled kernels


def check_kernel(name: str, size: str, config: SmConfig) -> None:
    launched = kernel(name).load(size)
    program = prepared(compile_file(launched.ptx), config)
    run = simulate(config, execute(program, launched.launch).trace, check=True)
    assert run.statistics.counted["affine"]["accepted"] > 0


KERNELS = pytest.mark.parametrize("name", [one.name for one in kernels()])


@pytest.mark.sample(3)
@KERNELS
def test_bundled_kernels(name: str) -> None:
    check_kernel(name, "tiny", SmConfig.preset("small").with_settings(["affine=abm"]))


@pytest.mark.long
@KERNELS
@pytest.mark.parametrize("bypass", ALL)
@pytest.mark.parametrize("size", ["tiny", "default"])
def test_bundled_kernels_with_windows(name: str, bypass: str, size: str) -> None:
    if size == "default" and bypass not in ("off", "bow_hints"):
        pytest.skip("windows without hints at the tiny size only")
    check_kernel(name, size, SmConfig.preset("narrow").with_settings(["affine=abm", f"bypass={bypass}"]))
