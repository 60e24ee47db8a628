"""docs/adding_a_mechanism.md, followed literally in a copy of the tree: the mechanism of the page works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from warploom.kernels.library import kernels
from warploom.store.key import Kind, place

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding_a_mechanism.md"

BLOCK = re.compile(r"^```(python|diff) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

MOST_FILES = 8

RUN = ("-m", "warploom.cli", "run", "vector_add", "--preset", "small", "--size", "tiny", "--set", "ones=on")


class Block(NamedTuple):
    """A block of the page: a whole new file, or changes of a file."""

    kind: str
    path: str
    text: str


def blocks() -> list[Block]:
    """All blocks of the page."""
    return [Block(*found.groups()) for found in BLOCK.finditer(PAGE.read_text())]


def changed(text: str, diff: str) -> str:
    """A text with the changes of a diff. Raises `AssertionError` if the replaced text does not occur exactly once."""
    for hunk in diff.split("@@\n")[1:]:
        lines = hunk.splitlines(keepends=True)
        before, after = ("".join(line[1:] for line in lines if line[0] in (" ", sign)) for sign in "-+")
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the mechanism of the page."""
    folder = tmp_path_factory.mktemp("adding") / "tree"
    left_out = shutil.ignore_patterns(".*", "build", "docs", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, folder, symlinks=True, ignore=left_out)
    for kind, path, text in blocks():
        target = folder / path
        assert target.exists() == (kind == "diff")
        target.write_text(changed(target.read_text(), text) if kind == "diff" else text)
    runtimes = place() / Kind.RUNTIMES  # which take long, and are the same for every tree
    runtimes.mkdir(parents=True, exist_ok=True)
    (folder / "build").mkdir()
    (folder / "build" / Kind.RUNTIMES).symlink_to(runtimes)
    return folder


def python(tree: Path, *arguments: str) -> str:
    """The output of a command in the tree; it must succeed."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "WARPLOOM_CACHE": str(tree / "build")}
    done = subprocess.run([sys.executable, *arguments], cwd=tree, env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_few_files_are_needed() -> None:
    assert 0 < len({block.path for block in blocks()}) <= MOST_FILES


def test_its_descriptor_is_sound(tree: Path) -> None:
    python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/arch/test_mechanisms.py")


def test_the_model_reports_it(tree: Path) -> None:
    found = re.search(r"operands that equal 1 +([\d,]+)", python(tree, *RUN))
    assert found
    assert int(found[1].replace(",", "")) > 0


@pytest.mark.long
def test_the_regression_runs_it(tree: Path) -> None:
    found = python(tree, "-c", "from warploom.arch.config import SmConfig; from warploom.tb.regress import cases\n"
                               "print(*(case.kernel for case in cases(SmConfig()) if case.config.ones == 'on'))")
    assert set(found.split()) == {kernel.name for kernel in kernels()}


@pytest.mark.long
@pytest.mark.rtl
def test_its_bench_passes(tree: Path) -> None:
    python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "warploom/tb/test_ones.py")


@pytest.mark.rtl
@pytest.mark.long
def test_its_hardware_is_in_lockstep(tree: Path) -> None:
    assert "Hardware in lockstep" in python(tree, *RUN, "--rtl")


@pytest.mark.mutation
def test_its_bug_is_found(tree: Path) -> None:
    python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "mutation", "-k", "OnesCounter",
           "tests/lockstep/test_mutation.py")
