"""Steps of a sequential process: generators in which a `yield` ends a cycle."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")

Steps = Generator[None, None, T]


def wait(cycles: int) -> Steps[None]:
    """So many cycles."""
    for _ in range(cycles):
        yield
