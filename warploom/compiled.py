"""The cycle model as extension modules, which mypyc makes from the same source (`make compiled`, docs/cache.md).

Its entry in the cache has the digest of all sources as a part of its key, so modules of other sources are never used.
"""

import ast
import importlib
import shutil
import sys
import sysconfig
from pathlib import Path

from warploom import processes, store
from warploom.arch.errors import ToolError
from warploom.origin import ROOT
from warploom.store import Key, Kind

PACKAGE = "warploom.golden_model"

FOLDERS = ("warploom/arch", "warploom/golden_model")
"""The sources that are compiled, and those that these import."""

INTERPRETED = (
    "affine/uniform.py", "assembly.py", "bypass/lost.py", "check.py", "coalescing/crossbar.py", "crossbar.py",
    "external.py", "functional/", "fg_simt/", "gpu/", "l1/", "mascar/reexecution.py", "observation.py",
    "sample.py", "simulate.py", "statistics.py", "subbank.py", "trace.py", "trace_counts.py", "values.py", "widths.py",
)
"""Modules and folders that stay as they are: those that mypyc cannot compile, such as generic dataclasses; those that
take little of the time; and the SIMT engine with its L1, which crashes if compiled."""

_TRANSLATE = """
import sys
from mypyc.build import mypycify
modules = mypycify(["--ignore-missing-imports", *sys.argv[1:]], opt_level="2", debug_level="0")
modules[0].extra_compile_args.append("-fno-semantic-interposition")  # so that functions of mypyc are inlined
"""

_COMPILE = """
from setuptools import setup
setup(name="golden_model", script_args=["build_ext", "--inplace"], ext_modules=modules)
"""

LOG = "compiled.log"


def key() -> Key:
    """The key of the compiled modules of these sources."""
    sources = store.sources(*FOLDERS, "warploom/compiled.py")
    return Key(Kind.COMPILED, "golden_model", {
        "sources": sources, "python": sys.version, "platform": sysconfig.get_platform()})


def build() -> Path:
    """The folder of the compiled modules, which are made first if they are absent: this takes minutes. Raises
    `ToolError`."""
    return store.folder(key(), _make)


def exists() -> bool:
    """Whether these sources have been compiled."""
    return key().path.exists() and store.cached(key()) is not None


def use() -> bool:
    """From now on import compiled modules, if there are any of exactly these sources, and no module of the model has
    been imported. Returns whether they are used."""
    if any(name.startswith(f"{PACKAGE}.") for name in sys.modules) or not key().path.exists():
        return False
    folder = store.cached(key())
    if folder is None:
        return False
    package = importlib.import_module(PACKAGE)
    package.__path__ = [str(folder.joinpath(*PACKAGE.split(".")))]
    sys.path.append(str(folder))  # there is the code that all modules share
    return True


def in_use() -> bool:
    """Whether the modules of the model are compiled ones."""
    package = sys.modules.get(PACKAGE)
    return package is not None and list(package.__path__) != [str(ROOT.joinpath(*PACKAGE.split(".")))]


def modules(root: Path) -> list[Path]:
    """The modules below this root that are compiled."""
    model = root.joinpath(*PACKAGE.split("."))
    return [path for path in sorted(model.rglob("*.py"))
            if path.name != "__init__.py" and not str(path.relative_to(model)).startswith(INTERPRETED)]


def translate(folder: Path, and_then: str = "") -> None:
    """Copy the sources to a folder, let mypyc translate them to C there, and run Python's `and_then` on its `modules`.
    Raises `ToolError`."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "warploom" / "__init__.py", folder / "warploom")
    for path in folder.rglob("*.py"):
        path.write_text(with_final_constants(path.read_text(encoding="utf-8")), encoding="utf-8")
    names = [str(path.relative_to(folder)) for path in modules(folder)]
    command = [sys.executable, "-c", _TRANSLATE + and_then, *names]
    with (folder / LOG).open("w") as log:
        status = processes.run(command, folder, log)
    if status:
        raise ToolError(f"{folder / LOG}: mypyc, or the C compiler, cannot compile the model: see the log")


def with_final_constants(source: str) -> str:
    """A module whose constants, the names in capitals, are `Final`, on the same lines. Compiled functions look up every
    other name of their module in a dictionary each time."""
    lines = source.encode().splitlines(keepends=True)  # columns of `ast` are in bytes
    for node in reversed(ast.parse(source).body):  # from the end, where nothing has moved
        match node:
            case ast.Assign(targets=[ast.Name(id=name) as target]) if name.isupper():
                _insert(lines, ": Final", target.end_lineno, target.end_col_offset)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if name.isupper():
                _insert(lines, "]", kind.end_lineno, kind.end_col_offset)
                _insert(lines, "Final[", kind.lineno, kind.col_offset)
            case ast.Assign(targets=[ast.Tuple(elts=parts)]):  # cannot be declared where they are unpacked
                unpacked = [part for part in parts if isinstance(part, ast.Name) and part.id.isupper()]
                finals = "".join(f"; {part.id}: Final = value_of_{part.id}" for part in unpacked)
                _insert(lines, finals, node.end_lineno, node.end_col_offset)
                for part in reversed(unpacked):
                    _insert(lines, "value_of_", part.lineno, part.col_offset)
    return "from typing import Final; " + b"".join(lines).decode() if lines else source


def _insert(lines: list[bytes], text: str, number: int | None, column: int | None) -> None:
    assert number is not None
    line = lines[number - 1]
    lines[number - 1] = line[:column] + text.encode() + line[column:]


def _make(folder: Path) -> None:
    """Compile the sources in a folder."""
    translate(folder, _COMPILE)
    for made in ("build", ".mypy_cache", "warploom/arch"):
        shutil.rmtree(folder / made)


if __name__ == "__main__":
    print(build())
