"""Functions for worker processes of tests."""

import gc
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from warploom.arch.errors import LaunchError, PtxError, WarploomError


def square(number: int) -> int:
    return number * number


def collecting(_: object) -> tuple[int, int, int]:
    """How often this process collects garbage."""
    return gc.get_threshold()


def square_or_fail(number: int) -> int:
    """2 is an error, 3 kills the worker."""
    if number == 2:
        raise LaunchError("two")
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def refuse(file: str) -> None:
    raise PtxError("no such opcode", file=file, line=3, column=4)


def wait(seconds: float) -> int:
    """Returns the worker's process."""
    time.sleep(seconds)
    return os.getpid()


def blocked(_: object) -> set[int]:
    """The signals that are blocked in this worker."""
    return {int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())}


def divide(number: int) -> float:
    return 1 / number


def in_this_process(
    function: Callable[[Any], Any], wanted: Iterable[Any], _: str | None = None, *, made: list[Any] | None = None
) -> Iterator[tuple[Any, Any]]:
    """`points.compute` without workers; `made` gets the points."""
    for point in wanted:
        if made is not None:
            made.append(point)
        try:
            yield point, function(point)
        except WarploomError as error:
            yield point, error
