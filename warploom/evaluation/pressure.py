"""The pressure of a kernel on the register file, and the stalls of its schedulers, which explain a figure."""

from typing import Any

from warploom.arch.config import SmConfig
from warploom.evaluation.metrics import share
from warploom.golden_model.statistics import Statistics

COLUMNS = ("kernel", "setting", "IPC", "requests/cycle", "conflicts", "issuing, %", "collector, %", "port, %",
           "else, %")
"""Bank requests, and conflicts of each; then the cycles of all schedulers: issuing, or waiting, by cause."""


def pressure(run: Statistics, config: SmConfig) -> dict[str, Any]:
    """The numbers of one run, by column; *else* is waiting for operands, memory or barriers, and having no warp."""
    total = run.cycles * config.schedulers
    collector, port = run.stalls["collector"], run.stalls["port"]
    waiting = sum(run.stalls.values())
    return dict(zip(COLUMNS[2:], (
        run.ipc, run.bank_requests / run.cycles, (run.bank_conflicts + run.port_conflicts) / run.bank_requests,
        share(total - waiting, total), share(collector, total), share(port, total),
        share(waiting - collector - port, total),
    ), strict=True))
