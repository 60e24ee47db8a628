"""A kernel in lockstep, from reset to the comparison of the final state."""

import time
from collections.abc import Iterator
from typing import Any

from warploom.arch.errors import ExecutionError
from warploom.golden_model.check import Mismatch
from warploom.golden_model.functional.executor import Execution
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.kernels.launchfile import LaunchFile
from warploom.running import run
from warploom.tb.comparison import Comparison
from warploom.tb.difference import Difference
from warploom.tb.hardware import Hardware
from warploom.tb.outside import OutsideUnits
from warploom.tb.readback import Readback
from warploom.tb.replay import replay


class KernelRun:
    """One kernel on hardware that was just reset. `outcome` is the result of the run."""

    def __init__(self, hardware: Hardware, file: LaunchFile) -> None:
        self._executed = run(file, hardware.config)
        trace = self._executed.execution.trace
        assert trace is not None
        self._hardware, self._trace, self.outside = hardware, trace, OutsideUnits()
        self._sm = Sm(hardware.config, trace, check=True)
        self._comparison = Comparison(hardware, self.outside, trace)
        self.outcome: dict[str, Any] = {"found": None}

    def cycles(self, limit: int | None = None) -> Iterator[None]:
        """Yields for each cycle, which the caller then clocks: the kernel to the last write-back, or some cycles of it;
        then all registers; then all memory. Raises an exception for every error."""
        sm, comparison, outcome = self._sm, self._comparison, self.outcome
        start = time.perf_counter()
        try:
            while comparison.cycle != limit and comparison.step(sm):
                yield
            outcome["cycles"] = comparison.cycle
            outcome["seconds"] = time.perf_counter() - start
            if not sm.finished:
                return
            readback = Readback(sm.config, self._trace.program.registers, sm.datapath, comparison.shadow)
            while comparison.step(readback):
                yield
            outcome["registers"] = readback.compared
            _check_memory(self.outside, self._executed.execution, self._trace)
            self._check_amount()
        except Exception as error:
            outcome["found"] = _found(error, comparison.cycle)
            raise
        finally:
            if sm.decisions.counts is not None:
                comparison.checks["expansions"] = sm.decisions.counts.expansions
            if sm.datapath.slow is not None:
                comparison.checks["slow"] = sm.datapath.slow.reads + sm.datapath.slow.writes
            outcome |= {"checks": comparison.checks, "warp_instructions": self._trace.warp_instructions}

    def _check_amount(self) -> None:
        """Check that something was compared: counters of activity may be 0, as without integer operations in lanes."""
        checks = self._comparison.checks
        assert min(checks["cycles"], checks["writes"] + checks.get("accepted", 0)) > 0, "nothing was compared"


def _found(error: Exception, cycle: int) -> dict[str, Any]:
    """The report of the exception that ended a run in a cycle, one line."""
    if isinstance(error, Difference):
        return error.report
    lines = str(error).splitlines() or ["no message"]
    if isinstance(error, Mismatch):
        return {"cycle": cycle, "what": "the golden model departs from functional execution", "message": lines[0]}
    if isinstance(error, AssertionError):
        return {"cycle": cycle, "what": "the run is not as it should be", "message": lines[0]}
    return {"cycle": cycle, "what": "the bench itself failed", "message": f"{type(error).__name__}: {lines[0]}"}


def _check_memory(outside: OutsideUnits, execution: Execution, trace: Trace) -> None:
    """All accesses of the hardware, replayed, give the final memory of functional execution."""
    try:
        memory, printed, wrong = replay(trace, outside.accesses)
    except ExecutionError as error:
        raise AssertionError(f"the hardware sent an illegal address: {error}") from None
    assert not wrong, "\n".join(wrong[:5])
    for name, array in memory.buffers().items():
        assert array.tobytes() == execution.buffers[name].tobytes(), f"buffer {name} differs from functional execution"
    assert printed == execution.printed, "the hardware printed something else than functional execution"
    assert memory.globals() == execution.globals, "the module's .global variables differ from functional execution"
