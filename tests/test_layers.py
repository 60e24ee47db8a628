"""Who may import whom: the table of the architecture, proved on the syntax tree of every file."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from golden_model.datapath import Datapath

ROOT = Path(__file__).resolve().parent.parent

OURS = ("warploom", "golden_model", "rtl", "tb", "synth", "tests")

ALLOWED = {
    "warploom/arch": ("warploom.arch",),
    "warploom/compiler": ("warploom.arch", "warploom.compiler"),
    "golden_model": ("warploom.arch", "golden_model"),
    "rtl": ("warploom.arch", "warploom.files", "warploom.processes", "rtl"),
    "warploom/kernels": ("warploom.arch", "warploom.kernels"),
    "synth": ("warploom.arch", "warploom.store", "warploom.processes", "rtl", "synth"),
}
"""What of ours each folder may import. `tb`, `evaluation` and the command line may import what is below them."""

HARDWARE = ("amaranth", "pyosys", "cocotb")
"""Libraries that only hardware and its benches may import."""


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, relative imports resolved."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *([node.module] if node.module else [])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def within(module: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a module is one of the prefixes or below one."""
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def files(folder: str) -> list[Path]:
    """Python files of a folder; at least one."""
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, folder
    return found


@pytest.mark.parametrize("folder", ALLOWED)
def test_imports_of_ours(folder: str) -> None:
    wrong = [f"{path.relative_to(ROOT)} imports {module}" for path in files(folder) for module in imports(path)
             if within(module, OURS) and not within(module, ALLOWED[folder])]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", ["golden_model", "warploom/arch", "warploom/compiler", "warploom/kernels"])
def test_no_hardware_libraries(folder: str) -> None:
    wrong = [f"{path.relative_to(ROOT)} imports {module}" for path in files(folder) for module in imports(path)
             if within(module, HARDWARE)]
    assert not wrong, "\n".join(wrong)


def test_golden_model_and_rtl_are_strangers() -> None:
    assert not [path for path in files("golden_model") for module in imports(path) if within(module, ("rtl",))]
    assert not [path for path in files("rtl") for module in imports(path) if within(module, ("golden_model",))]


def test_benches_stay_below_the_command_line() -> None:
    upper = ("warploom.cli", "warploom.evaluation")
    assert not [path for path in files("tb") for module in imports(path) if within(module, upper)]


def test_golden_parts_are_joined_and_not_inherited() -> None:
    """Nobody makes a datapath of another one, and no class has more than two of ours above it."""
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files("golden_model")]
    found = {value for name in names for value in vars(importlib.import_module(name)).values()
             if isinstance(value, type) and value.__module__.startswith("golden_model")}
    assert Datapath in found and not Datapath.__subclasses__()
    ours = {kind: [base for base in kind.__mro__ if base.__module__.startswith("golden_model")] for kind in found}
    assert not {kind: bases for kind, bases in ours.items() if len(bases) > 3}


UNITS = ("subbank", "bank", "arbiter", "crossbar", "operands/collector", "lane", "integer", "dispatch", "datapath",
         "register_file/writeback")


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_has_three_doors(unit: str) -> None:
    bench = Path(unit).with_name(f"test_{Path(unit).name}")
    for path in (f"rtl/{unit}.py", f"golden_model/{unit}.py", f"tb/{bench}.py"):
        assert (ROOT / path).is_file(), path


def test_the_walk_sees_every_form_of_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "rtl").mkdir()
    path = tmp_path / "rtl" / "unit.py"
    path.write_text("import golden_model.sm\ndef f():\n    from golden_model import lane\nfrom . import bank\n")
    assert set(imports(path)) == {"golden_model.sm", "golden_model.lane", "rtl.bank"}
