"""A bug in one function: its text with one piece replaced. All importers of the function then run the bug."""

import ast
import inspect
import textwrap
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import FunctionType
from typing import Any

import pytest


@dataclass(frozen=True)
class Bug:
    """`where` is module:function or module:Class.method, below `package`; `right`, which occurs there once, becomes
    `wrong`. `symptom` describes the visible effect in a program."""

    where: str
    right: str
    wrong: str
    symptom: str
    package: str = "warploom.compiler"

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        """Insert the bug until the patch is undone."""
        function = self._function()
        text = textwrap.dedent(inspect.getsource(function))
        assert text.count(self.right) == 1, f"{self.where}: {self.right!r} stands there {text.count(self.right)} times"
        tree = ast.parse(text.replace(self.right, self.wrong))
        definition = tree.body[0]
        assert isinstance(definition, ast.FunctionDef)
        definition.decorator_list = []
        made: dict[str, Any] = {}
        exec(compile(tree, f"<{self.where}>", "exec"), function.__globals__, made)
        patch.setattr(function, "__code__", made[definition.name].__code__)

    def _function(self) -> FunctionType:
        module, name = self.where.split(":")
        found: Any = import_module(f"{self.package}.{module}")
        for part in name.split("."):
            found = vars(found)[part]
        found = found.func if isinstance(found, cached_property) else found
        assert isinstance(found, FunctionType)
        return found
