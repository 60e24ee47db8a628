"""The compiled cycle model (`warploom.compiled`) computes the same values as the plain one, in every cycle."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from warploom import compiled
from warploom.origin import ROOT
from warploom.store import Key

RUN = """
import hashlib, sys
from warploom import compiled
assert compiled.use() is (sys.argv[1] == "compiled")
from warploom.arch.config import SmConfig
from warploom.golden_model import sm as model
from warploom.golden_model.statistics import collect
from warploom.running import find, run
assert model.__file__.endswith(".so") is (sys.argv[1] == "compiled") is compiled.in_use()
for preset, settings in (("fermi", []), ("fermi", ["coalescing=on", "alignment=write", "gating=cross_lane",
                         "affine=abm"]), ("narrow", ["bypass=bow_wr"]), ("small", ["bypass=rfc"]),
                         ("small", ["renaming=mem_ra", "tfet_rows=8", "pipes.sp.result_queue=2"]),
                         ("small", ["hints=on"])):
    config = SmConfig.preset(preset).with_settings(settings)
    sm, seen = model.Sm(config, run(find("bfs", "tiny"), config).execution.trace, check=True), hashlib.sha256()
    sm.step()
    while not sm.finished:
        datapath = sm.datapath
        seen.update(repr([*map(int, datapath.observe()), *datapath.activity().values(), *datapath.writes()]).encode())
        sm.step()
    print(sm.cycle, seen.hexdigest(), collect(sm))
from warploom.evaluation.cached import Sized
from warploom.evaluation.fg_simt.experiment import WORK
print(WORK.make(Sized("conv", "tiny")))
"""


def run(how: str, cache: Path) -> str:
    """What a process prints that runs the plain model or the compiled one."""
    return subprocess.run([sys.executable, "-c", RUN, how], env=os.environ | {"WARPLOOM_CACHE": str(cache)}, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def test_modules_of_other_sources_have_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiled.key()
    monkeypatch.setattr(compiled.store, "sources", lambda *_: "others")
    assert isinstance(before, Key) and compiled.key().path != before.path


def test_tests_never_use_compiled_modules() -> None:
    import warploom.golden_model.sm

    assert not compiled.use() and not compiled.in_use()
    assert warploom.golden_model.sm.__file__.endswith(".py")


def test_mypyc_takes_the_model(tmp_path: Path) -> None:
    """Without the C compiler, which takes minutes."""
    compiled.translate(tmp_path, "assert modules[0].sources")


def test_no_dataclass_that_is_compiled_is_generic() -> None:
    """mypyc takes one, but its module cannot be imported."""
    model = ROOT.joinpath(*compiled.PACKAGE.split("."))
    assert all((model / name).exists() for name in compiled.INTERPRETED)
    dataclasses = [node for path in compiled.modules(ROOT) for node in ast.walk(ast.parse(path.read_text()))
                   if isinstance(node, ast.ClassDef) and "dataclass" in " ".join(map(ast.unparse, node.decorator_list))]
    assert dataclasses
    assert not [node.name for node in dataclasses if "Generic" in " ".join(map(ast.unparse, node.bases))]


def test_no_property_that_is_compiled_is_cached() -> None:
    """mypyc computes it again each time."""
    assert not [path for path in compiled.modules(ROOT) if "cached_property" in path.read_text()]


def test_constants_are_final_on_the_same_lines() -> None:
    source = ('"""Two pairs."""\n\nA = 1  # one\nB: list[int] = [A]\nC, _D = (\n    2, 3)  # two\n'
              '"µs"; E = 4; F: int = 5\nother = 6\n')
    text = compiled.with_final_constants(source)
    assert text.splitlines() == [
        'from typing import Final; """Two pairs."""', "", "A: Final = 1  # one", "B: Final[list[int]] = [A]",
        "value_of_C, value_of__D = (", "    2, 3); C: Final = value_of_C; _D: Final = value_of__D  # two",
        '"µs"; E: Final = 4; F: Final[int] = 5', "other = 6"]
    values: dict[str, object] = {}
    exec(text, values)
    assert [values[name] for name in ("A", "B", "C", "_D", "E", "F", "other")] == [1, [1], 2, 3, 4, 5, 6]


@pytest.mark.long
def test_compiled_and_plain_models_are_equal_in_every_cycle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    plain = run("plain", tmp_path)
    compiled.build()
    assert run("compiled", tmp_path) == plain
    assert plain.count("Statistics(") == 6
