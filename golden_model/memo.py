"""`Memo`: the values of a function, each computed once."""

from collections.abc import Callable
from typing import TypeVar

Argument = TypeVar("Argument")
Value = TypeVar("Value")


class Memo(dict[Argument, Value]):
    """By its argument, the value of a function. This takes half of the time of `functools.cache`, which puts the
    argument into a tuple before it looks it up."""

    def __init__(self, function: Callable[[Argument], Value]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, argument: Argument) -> Value:
        value = self[argument] = self._function(argument)
        return value
