"""The lockstep bench with a fault, named by the environment, to test the reaction of the caller."""

import os
import signal

from warploom.golden_model import check
from warploom.golden_model.check import Checker
from warploom.tb.comparison import Comparison
from warploom.tb.lockstep_bench import kernels

__all__ = ["kernels"]

FAULT, AT = "FAULT", 50
"""The environment variables of the fault's name and cycle."""

_compare = Comparison._compare


def _fail(comparison: Comparison, *rest: object) -> None:
    if comparison.cycle == AT:
        match os.environ[FAULT]:
            case "exception":
                raise KeyError("left\nright")
            case "mismatch":  # the next operand is wrong
                Checker._compare = lambda self, what, expected, actual, lanes: _wrong(what, expected, lanes)
            case name:
                os.kill(os.getpid(), getattr(signal, name))
    _compare(comparison, *rest)


def _wrong(what: str, expected: int, lanes: int) -> None:
    if lanes & 1:
        raise check.Mismatch(f"{what}, lane 0: expected {expected & 0xFF:#x}, actual {expected & 0xFF ^ 1:#x}")


Comparison._compare = _fail  # type: ignore[method-assign]
