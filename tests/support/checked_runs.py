"""Every functional run of a test is simulated twice, with all mechanisms off and with all on, and its trace is checked.

The checker is that of lockstep: input operands and predicates, and results (`warploom.golden_model.check`). So no test
passes with the right final memory and a wrong trace.
"""

import dataclasses
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from warploom.arch.config import SmConfig
from warploom.compiler.prepare import prepared
from warploom.golden_model.functional import executor
from warploom.golden_model.functional.operations.warp import to_masks
from warploom.golden_model.functional.resident import launched_lanes
from warploom.golden_model.simulate import simulate
from warploom.golden_model.trace import Trace

OFF = dataclasses.replace(SmConfig.preset("narrow"), rows=4096, shared_bytes=1 << 18)
"""The published baseline, enlarged to fit any block: a test may use more registers than an SM has."""

ON = OFF.with_settings(["coalescing=on", "gating=cross_lane", "bypass=bow_hints", "affine=abm"])

WITHOUT_ROWS = OFF.with_settings(["bypass=bow_hints", "transient=on", "window=8", "entries=32"])
"""For programs with registers that have no row."""

LONGEST = 20_000
"""Warp instructions of the longest trace that is checked here: about two seconds. The long regression checks the longer
traces of the bundled kernels at default size."""


def check_trace(trace: Trace) -> int:
    """Simulate a trace with all mechanisms off and with all on. Returns the number of compared operands. Raises
    `Mismatch` if an operand or a result differs from the trace."""
    compared = 0
    for config in (WITHOUT_ROWS,) if trace.program.unallocated else (OFF, ON):
        timed = dataclasses.replace(trace, program=prepared(trace.program, config))
        checker = simulate(config, timed, check=True).sm.checker
        assert checker is not None
        compared += checker.checked
    return compared


def _digest(trace: Trace) -> bytes:
    """A digest of a trace."""
    digest = hashlib.sha256(repr((trace.program, trace.launch.grid, trace.launch.block)).encode())
    for warp in trace.warps:
        for column in (warp.pc, warp.lanes, warp.pred_in, warp.pred_out):
            digest.update(column.tobytes())
    digest.update(trace.results.tobytes() + trace.addresses.tobytes())
    return digest.digest()


_CHECKED: set[bytes] = set()
"""Digests of traces that have been checked in this process: many tests run the bundled kernels."""


class _CheckedRun(executor._Run):
    """A launch that is recorded whether or not its caller wants the trace."""

    def __init__(self, program, launch, record) -> None:
        super().__init__(program, launch, True)
        self.wanted = record

    def run(self) -> Iterator[range]:
        yield from super().run()
        assert self.recorder is not None
        if self.recorder.empty:  # a stream, whose parts have been taken
            return
        trace = self.recorder.trace(self.program, self.launch, to_masks(launched_lanes(self.launch)))
        digest = _digest(trace)
        if digest not in _CHECKED and self.steps.clock <= LONGEST:
            check_trace(trace)
            _CHECKED.add(digest)
        if not self.wanted:
            self.recorder = None


@contextmanager
def all_runs_checked() -> Iterator[None]:
    """From now on, in this process, `execute` checks its traces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "_Run", _CheckedRun)
        yield
