"""The lockstep bench with a fault, named by the environment, to test the reaction of the caller."""

import os
import signal

from warploom.golden_model import check
from warploom.golden_model.check import Checker
from warploom.tb import lockstep_bench
from warploom.tb.lockstep_bench import Lockstep, kernels

__all__ = ["kernels"]

FAULT, AT = "FAULT", 50
"""The environment variables of the fault's name and cycle."""

_compare = Lockstep._compare


def _fail(lockstep: Lockstep, *rest: object) -> None:
    if lockstep.cycle == AT:
        match os.environ[FAULT]:
            case "exception":
                raise KeyError("left\nright")
            case "mismatch":  # the next operand is wrong
                Checker._compare = lambda self, what, expected, actual, lanes: _wrong(what, expected, lanes)
            case name:
                os.kill(os.getpid(), getattr(signal, name))
    _compare(lockstep, *rest)


def _wrong(what: str, expected: int, lanes: int) -> None:
    if lanes & 1:
        raise check.Mismatch(f"{what}, lane 0: expected {expected & 0xFF:#x}, actual {expected & 0xFF ^ 1:#x}")


lockstep_bench.Lockstep._compare = _fail
