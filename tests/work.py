"""Functions for worker processes of tests."""

import os
import signal
import time

from warploom.arch.errors import LaunchError


def square(number: int) -> int:
    return number * number


def square_or_fail(number: int) -> int:
    """2 is an error, 3 kills the worker."""
    if number == 2:
        raise LaunchError("two")
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def wait(seconds: float) -> int:
    """Returns the worker's process."""
    time.sleep(seconds)
    return os.getpid()


def divide(number: int) -> float:
    return 1 / number
