"""Random CUDA C programs: `make test` runs stored ones; the long regression makes new ones, with nvcc and g++."""

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from fuzz import build, campaign
from fuzz.__main__ import BUILD, SHRUNK, STORED, main
from fuzz.case import Case, signature, verdict
from fuzz.generator import VERSION, generate
from fuzz.program import Program
from fuzz.shrink import shrink

from warploom import store
from warploom.arch.errors import ToolError

PATHS = [*sorted(STORED.glob("*.ptx")), *sorted(SHRUNK.glob("*.ptx"))]
SOURCES = (12, "85eee3d5ac363f2b")
"""Digests of the programs of each version of the generator, with the functions that they call."""

PROGRAMS = 2048
"""Programs of the long regression, with those of earlier calls."""


@pytest.mark.sample(110)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_stored_programs(path: Path) -> None:
    """Like all functional runs of tests, these are also simulated, and their traces checked."""
    Case.read(path).run()


def test_programs_are_stored() -> None:
    assert len(PATHS) > 200


# ------------------------------------------------------------ the check can fail


@pytest.fixture(scope="module")
def case() -> Case:
    """A program that passes."""
    return Case.read(PATHS[0])


def test_a_wrong_result_is_seen(case: Case) -> None:
    rows = list(case.rows)
    rows[3] ^= 1
    assert verdict(replace(case, rows=tuple(rows))) == (
        f"AssertionError: 1 of {len(rows)} threads differ from the host's, the first is 3")
    common = bytes([*case.common[:7], case.common[7] ^ 1, *case.common[8:]])
    assert verdict(replace(case, common=common)) == "AssertionError: common words differ from the host's from byte 7 on"


def test_a_refusal_is_a_failure(case: Case) -> None:
    wrong = verdict(replace(case, ptx=case.ptx.replace("mov.u32", "mov.u99", 1)))
    assert wrong is not None and wrong.startswith("PtxError: ")
    assert signature(wrong) == signature(wrong.replace(f"{case.seed}.ptx", "77.ptx"))


def test_a_program_that_never_ends_is_a_failure(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.case.SECONDS", 1)
    monkeypatch.setattr("fuzz.case.compile_ptx", lambda *_, **__: [None for _ in iter(int, 1)])
    assert verdict(case) == "Endless: goes on after 1 s"


def test_cases_are_read_as_they_were_written(case: Case, tmp_path: Path) -> None:
    (tmp_path / "case.ptx").write_text(str(case))
    assert Case.read(tmp_path / "case.ptx") == case


# ------------------------------------------------------------ programs


def test_a_seed_is_a_program() -> None:
    """A change of the generated programs needs a new version: passed programs are counted by version."""
    functions = "".join((build.HERE / name).read_text() for name in ("common.h", "device.h"))
    text = functions + "".join(generate(seed).source() for seed in range(32))
    assert (VERSION, sha256(text.encode()).hexdigest()[:16]) == SOURCES


def test_shrinking_keeps_what_matters() -> None:
    def fails(programs: list[Program]) -> list[bool]:
        return ["__umulhi" in str(program.tree) for program in programs]

    program = next(program for program in map(generate, range(100)) if fails([program])[0])
    small = shrink(program, fails, lambda _: None)
    assert fails([small]) == [True]
    assert len(small.source()) < 1800 and not small.functions
    with pytest.raises(ValueError, match="does not fail"):
        shrink(program, lambda programs: [False for _ in programs])


# ------------------------------------------------------------ campaigns


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], list[int]]:
    """No program is compiled, number 5 fails, number 70 crashes nvcc. Records the seed of every run."""
    log = tmp_path / "ran"

    def cases(programs: list[Program]) -> list[Case]:
        if any(program.seed == 70 for program in programs):
            raise build.RefusedError("nvcc failed")
        return [Case(program.seed, VERSION, 1, (32, 1), 0, (), b"", "") for program in programs]

    def verdict(case: Case, _: object) -> str | None:
        with log.open("a") as file:
            file.write(f"{case.seed}\n")
        return "wrong" if case.seed == 5 else None

    monkeypatch.setattr(campaign, "cases", cases)
    monkeypatch.setattr(campaign, "verdict", verdict)
    return lambda: sorted(map(int, log.read_text().split()))


def quietly(folder: Path, programs: int) -> campaign.State:
    return campaign.campaign(folder, programs, lambda _: None)


def test_a_campaign_goes_on_where_it_was(ran: Callable[[], list[int]], tmp_path: Path) -> None:
    first = quietly(tmp_path, 100)
    assert ran() == [seed for seed in range(2 * campaign.BATCH) if seed != 70]
    assert first.failures == [5] and first.refused == [70]
    assert sorted(path.name for path in (tmp_path / "failed").iterdir()) == ["5.cu", "5.ptx"]
    assert str(first) == (f"128 programs (128 of generator {VERSION}), 1 failed, "
                          "1 that nvcc or g++ did not take")
    quietly(tmp_path, 100)
    last = quietly(tmp_path, 3 * campaign.BATCH)
    assert (last.done, last.failures, last.refused) == (3, [5], [70])
    assert ran() == sorted([5, 5, *{*range(3 * campaign.BATCH)} - {70}]), "what failed runs again, and nothing else"


def test_what_passes_by_now_is_forgotten(
    ran: Callable[[], list[int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quietly(tmp_path, 1)
    monkeypatch.setattr(campaign, "verdict", lambda *_: None)
    assert quietly(tmp_path, 1).failures == [] and not list((tmp_path / "failed").iterdir())
    assert ran() == list(range(campaign.BATCH))


def test_another_generator_takes_other_seeds(ran: Callable[[], list[int]], tmp_path: Path) -> None:
    """The passed programs of another version stay counted separately."""
    store.write(tmp_path / "state", json.dumps({"batches": {str(VERSION - 1): 9}, "refused": []}))
    assert quietly(tmp_path, 10 * campaign.BATCH).batches == {str(VERSION - 1): 9, str(VERSION): 1}
    assert ran() == list(range(9 * campaign.BATCH, 10 * campaign.BATCH))


def test_a_damaged_count_starts_anew(
    ran: Callable[[], list[int]], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    quietly(tmp_path, 2 * campaign.BATCH)
    (tmp_path / "state").write_bytes((tmp_path / "state").read_bytes()[:-3])
    assert quietly(tmp_path, 1).done == 1
    assert "is damaged: made again" in capsys.readouterr().err


def test_a_missing_tool_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["fuzz", "run", "1", "--folder", str(tmp_path / "state")])
    assert main() == 1
    assert "g++: not found; random CUDA programs need the CUDA toolkit and g++" in capsys.readouterr().err
    with pytest.raises(ToolError, match="nvcc: not found"):
        build.ptx([generate(1)], tmp_path)


@pytest.mark.long
def test_random_programs() -> None:
    """Needs nvcc: without it, this fails with a message."""
    state = campaign.campaign(BUILD, PROGRAMS)
    assert campaign.BATCH * state.done >= PROGRAMS and not state.failures


@pytest.mark.long
def test_programs_are_defined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The host's sanitiser finds no undefined behaviour in them."""
    options = [option for option in build.GXX if option != "-fwrapv"]
    monkeypatch.setattr(build, "GXX", (*options, "-fsanitize=undefined", "-fno-sanitize-recover=all"))
    for first in range(0, 512, campaign.BATCH):
        build.expected([generate(seed) for seed in range(first, first + campaign.BATCH)], tmp_path)
