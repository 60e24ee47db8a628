"""The architecture, proved on every file: permitted imports, and that parts are composed."""

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType

import pytest

ROOT = Path(__file__).resolve().parents[2]

OURS = ("warploom", "tests")

ALLOWED = {
    "warploom/arch": ("warploom.arch",),
    "warploom/compiler": ("warploom.arch", "warploom.compiler"),
    "warploom/golden_model": ("warploom.arch", "warploom.golden_model"),
    "warploom/rtl": ("warploom.arch", "warploom.files", "warploom.origin", "warploom.processes", "warploom.rtl"),
    "warploom/kernels": ("warploom.arch", "warploom.files", "warploom.kernels"),
    "warploom/placement": ("warploom.arch", "warploom.golden_model.trace", "warploom.placement"),
    "warploom/synth": ("warploom.arch", "warploom.points", "warploom.store", "warploom.processes", "warploom.rtl",
                       "warploom.synth"),
}
"""The packages of ours that each folder may import. `tb`, `evaluation` and the command line may import all below
them."""

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


@pytest.mark.parametrize("folder", ["warploom/golden_model", "warploom/arch", "warploom/compiler", "warploom/kernels"])
def test_no_hardware_libraries(folder: str) -> None:
    wrong = [f"{path.relative_to(ROOT)} imports {module}" for path in files(folder) for module in imports(path)
             if within(module, HARDWARE)]
    assert not wrong, "\n".join(wrong)


def test_golden_model_and_rtl_are_strangers() -> None:
    model, hardware = "warploom.golden_model", "warploom.rtl"
    for one, other in ((model, hardware), (hardware, model)):
        known = [module for path in files(one.replace(".", "/")) for module in imports(path)]
        assert not [module for module in known if within(module, (other,))]


def test_benches_stay_below_the_command_line() -> None:
    upper = ("warploom.cli", "warploom.command", "warploom.options", "warploom.evaluation")
    assert not [path for path in files("warploom/tb") for module in imports(path) if within(module, upper)]


# ---------------------------------------------------------------- parts are composed

COMPOSED = ("warploom.golden_model", "warploom.rtl")
MOST_CLASSES = 3
"""Our classes in the method resolution order of a class, including itself."""


def of_ours(kind: type) -> list[type]:
    """A class, and its base classes of ours."""
    return [base for base in kind.__mro__ if within(base.__module__, COMPOSED)]


def classes(folder: str) -> list[type]:
    """Every class that the files of a folder define, nested ones included."""
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files(folder)]
    found, todo = [], [value for name in names for value in vars(importlib.import_module(name)).values()
                       if isinstance(value, type) and value.__module__ == name]
    while todo:
        kind = todo.pop()
        found.append(kind)
        todo += [value for value in vars(kind).values()
                 if isinstance(value, type) and value.__qualname__ == f"{kind.__qualname__}.{value.__name__}"]
    return found


def functions(member: object) -> list[Callable[..., object]]:
    """The functions that run when a member of a class is used: a method itself, or the getter and setter of a
    property."""
    if isinstance(member, property):
        return [function for function in (member.fget, member.fset, member.fdel) if function is not None]
    member = member.func if isinstance(member, cached_property) else member
    function = inspect.unwrap(getattr(member, "__func__", member))  # of a static method, or one of the class, or cached
    return [function] if isinstance(function, FunctionType) else []


def has_body(function: Callable[..., object]) -> bool:
    """Whether it has a body: hooks and protocol members consist of a docstring, `...` or `pass`."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return not all(isinstance(step, ast.Pass) or (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
                   for step in definition.body)


def inherited(kind: type) -> list[str]:
    """Violations of a class: overridden methods with a body, its own or those of one base behind another, except
    Python's own like `__init__`; and too many base classes."""
    ours, broken = of_ours(kind), []
    for name in dict.fromkeys(name for base in ours for name in vars(base) if not name.startswith("__")):
        first, *others = (base for base in ours if name in vars(base))
        broken += [f"{kind.__qualname__}: {name} of {first.__qualname__} hides that of {other.__qualname__}"
                   for other in others if (first is kind or not issubclass(first, other))
                   and any(map(has_body, functions(vars(other)[name])))]
    if len(ours) > MOST_CLASSES:
        broken.append(f"{kind.__qualname__} is made of too many: {[base.__qualname__ for base in ours[1:]]}")
    return broken


@pytest.mark.parametrize("folder", COMPOSED)
def test_parts_are_composed_and_not_inherited(folder: str) -> None:
    """No class overrides a method of another one of ours, and few have several bases."""
    broken = [line for kind in classes(folder.replace(".", "/")) for line in inherited(kind)]
    assert not broken, "\n".join(broken)


class _Base:
    def hook(self) -> None:
        """Nothing."""

    def method(self) -> int:
        """One."""
        return 1

    @property
    def value(self) -> int:
        return 1

    @staticmethod
    def function() -> int:
        return 1

    @cached_property
    def once(self) -> int:
        return 1

    @classmethod
    @cache
    def kept(cls) -> int:
        return 1


class _Hooked(_Base):
    def hook(self) -> None:
        raise AssertionError

    def other(self) -> int:
        return self.method()


class _Deep(_Hooked):
    pass


class _Deeper(_Deep):
    pass


class _Mixed:
    def method(self) -> int:
        return 2


@pytest.mark.parametrize(("kind", "rules"), [
    (_Hooked, 0), (_Deep, 0), (_Deeper, 1), (type("Method", (_Base,), {"method": len}), 1),
    (type("Value", (_Base,), {"value": 2}), 1), (type("Kept", (_Base,), {"once": 2, "kept": 2}), 2),
    (type("Function", (_Hooked,), {"function": len, "hook": len}), 2),
    (type("Made", (_Base,), {"__init__": lambda self: None}), 0), (type("Both", (_Mixed, _Base), {}), 1),
])
def test_every_form_of_inheritance_is_seen(kind: type, rules: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "COMPOSED", (__name__,))
    assert len(inherited(kind)) == rules


UNITS = ("subbank", "bank", "arbiter", "crossbar", "operands/collector", "lane", "integer", "dispatch", "datapath",
         "register_file/writeback")


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_has_three_doors(unit: str) -> None:
    bench = Path(unit).with_name(f"test_{Path(unit).name}")
    for path in (f"rtl/{unit}.py", f"golden_model/{unit}.py", f"tb/{bench}.py"):
        assert (ROOT / path).is_file(), path


def test_the_walk_sees_every_form_of_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "warploom" / "rtl" / "unit.py"
    path.parent.mkdir(parents=True)
    path.write_text("import warploom.golden_model.sm\n"
                    "def f():\n    from warploom.golden_model import lane\nfrom . import bank\n")
    assert set(imports(path)) == {"warploom.golden_model.sm", "warploom.golden_model.lane", "warploom.rtl.bank"}
