"""`named`: makes named tuples in half of the time that their classes take, for those that are made in every cycle."""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

Named = TypeVar("Named")

named: Final = cast(Callable[[type[Named], tuple[Any, ...]], Named], tuple.__new__)
"""The named tuple of a class with these values, of all its fields in their order."""
