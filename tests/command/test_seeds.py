"""The origin of seeds."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from warploom.origin import ROOT
from warploom.tb.seeds import FIXED, LIMIT, NEW, read, seed_of

pytest_plugins = ["pytester"]


def test_a_seed_follows_from_name_and_base() -> None:
    names = [f"test {number}" for number in range(100)]
    seeds = {(base, name): seed_of(name, base) for base in range(3) for name in names}
    assert len(set(seeds.values())) == len(seeds)
    assert all(seed_of(name, base) == seed < LIMIT for (base, name), seed in seeds.items())
    assert seed_of("a") == seed_of("a", FIXED) == 1005039028  # the same on every machine


def test_legal_seeds() -> None:
    assert (read("0"), read("462090229"), read(str(LIMIT - 1))) == (0, 462090229, LIMIT - 1)
    assert len({read(NEW) for _ in range(20)}) == 20


@pytest.mark.parametrize("text", ["-3", str(LIMIT), "1.5", "old", ""])
def test_illegal_seeds(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{text}: must be a number from 0 to {LIMIT - 1}, or new$"):
        read(text)


def test_the_makefile_asks_for_one_too() -> None:
    def ask(text: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "warploom.tb.seeds", text]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert ask("77").stdout == "77\n"
    assert ask(NEW).stdout != ask(NEW).stdout
    assert (ask("x").returncode, ask("x").stderr) == (1, f"error: x: must be a number from 0 to {LIMIT - 1}, or new\n")


@pytest.mark.parametrize("ci", ["", "true"])
def test_each_test_has_its_own(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str) -> None:
    """One base gives the same seeds, also to Hypothesis, in any process and on any machine; another base gives
    others."""
    monkeypatch.setenv("CI", ci)
    pytester.makeconftest(Path(ROOT, "conftest.py").read_text())
    pytester.makepyfile("""
        from hypothesis import given, settings, strategies as st

        def test_one(seed): print("seed", seed)
        def test_other(seed): print("seed", seed)

        @settings(max_examples=3)
        @given(st.integers(0, 1 << 60))
        def test_drawn(number): print("seed", number)
    """)

    def run(*options: str) -> list[str]:
        done = pytester.runpytest_subprocess("-s", "-q", *options)
        done.assert_outcomes(passed=3)
        done.stdout.fnmatch_lines([f"seeds: the same again with --seed {options[-1]}"])
        return [line for line in done.outlines if "seed " in line and "--seed" not in line]

    own, others = run("--seed", "5"), run("--seed", "6")
    assert own == run("--seed", "5")
    assert len({*own[:2], *others[:2]}) == 4
    assert own[2:] != others[2:]
