"""The Python files that name a mechanism, by import or identifier, outside its own folders, its descriptor, the
evaluation, and the FG-SIMT engine, a machine of its own. As a table: ``python tests/support/named_mechanisms.py``."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from warploom import report
from warploom.arch.mechanisms import BASELINE, BESIDE, MECHANISMS, Mechanism

ROOT = Path(__file__).resolve().parents[2]

LOOKED_AT = ("rtl", "golden_model", "tb", "synth", "warploom")

DESCRIPTORS = ROOT / "warploom" / "arch" / "mechanisms"
ENGINE = "fg_simt"
EVALUATION = (ROOT / "warploom" / "evaluation", ROOT / "warploom" / "verbs" / "evaluate")


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Every identifier of a file, and every part of the modules that it imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield from (*name.split("."), *([other] if other else []))
            case ast.ImportFrom(module=str(name)):
                yield from name.split(".")


@cache
def sources() -> dict[Path, set[str]]:
    """All identifiers by file; links of `warploom` to the other folders are not followed."""
    paths = [path for folder in LOOKED_AT for path in (ROOT / folder).rglob("*.py")
             if not any(parent.is_symlink() for parent in path.parents)]
    return {path: set(identifiers(ast.parse(path.read_text())))
            for path in paths
            if ENGINE not in path.parts and not {DESCRIPTORS, *EVALUATION} & {path, *path.parents}}


def naming(mechanism: Mechanism) -> list[str]:
    """The files that name a mechanism and are not its own."""
    return sorted(str(path.relative_to(ROOT)) for path, found in sources().items()
                  if found & set(mechanism.names) and not set(mechanism.folders) & set(path.parts))


def main() -> None:
    """Print the table."""
    for mechanism in MECHANISMS:
        if mechanism not in (BASELINE, *BESIDE):
            found = naming(mechanism)
            report.table(f"{mechanism.name}: {len(found)} files", ("file",), [[path] for path in found])


if __name__ == "__main__":
    main()
