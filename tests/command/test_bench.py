"""``warploom bench``: the speed of the cycle model, and that of another checkout beside it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.cli import main
from warploom.speed import speed
from warploom.verbs import bench

FERMI = SmConfig.preset("fermi")


@pytest.fixture
def checkout(tmp_path: Path) -> Callable[[str], Path]:
    """Another checkout, whose measurement is this program."""
    def make(program: str) -> Path:
        (tmp_path / "warploom").mkdir()
        (tmp_path / "warploom" / "__init__.py").touch()
        (tmp_path / "warploom" / "speed.py").write_text(program)
        return tmp_path

    return make


def test_the_model_of_another_checkout_is_measured_with_the_same_machine(checkout: Callable[[str], Path]) -> None:
    other = checkout("import sys; print(len(sys.stdin.read()))")
    assert speed(FERMI, checkout=other) == len(FERMI.to_toml())


def test_another_checkout_has_the_same_cache_and_its_own_modules(
    checkout: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also with a relative path, and where Python does not look for modules in the current folder."""
    other, cache = checkout("import os; print(len(os.environ['WARPLOOM_CACHE']))"), tmp_path.parent / "cache"
    monkeypatch.chdir(cache.parent)
    monkeypatch.setenv("WARPLOOM_CACHE", "cache")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert speed(FERMI, checkout=Path(other.name)) == len(str(cache))


@pytest.mark.parametrize(("program", "reason"), [
    ("raise ValueError('no field schedulers')", "ValueError: no field schedulers"),
    ("print('12.5, fast')", "could not convert string to float: '12.5, fast.*"),
    ("import sys; sys.stdout.buffer.write(bytes([255]))", "could not convert string to float: .*"),
    ("raise SystemExit(3)", ".* returned non-zero exit status 3."),
])
def test_another_checkout_that_fails(checkout: Callable[[str], Path], program: str, reason: str) -> None:
    with pytest.raises(ToolError, match=f"its cycle model cannot be measured: {reason}$"):
        speed(FERMI, checkout=checkout(program))


def test_two_models_are_measured_in_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    speeds, order = {None: iter([29e3, 20e3, 30e3, 25e3]), tmp_path: iter([14e3, 15e3, 10e3])}, []

    def measured(machine: SmConfig, *, checkout: Path | None = None) -> float:
        order.append(checkout)
        return next(speeds[checkout])

    monkeypatch.setattr(bench, "speed", measured)
    assert bench._beside(FERMI, tmp_path) == {"plain": 30, "other": 15, "ratio": 2}
    assert order == [None, tmp_path] * bench.PAIRS


def test_a_folder_without_a_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--beside", str(tmp_path)]) == 1
    assert "has no warploom/speed.py: name the folder of a checkout" in " ".join(capsys.readouterr().err.split())
