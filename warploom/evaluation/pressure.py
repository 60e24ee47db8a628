"""The pressure of a kernel on the register file, and the stalls of its schedulers, which explain a figure."""

from warploom.arch.config import SmConfig
from warploom.evaluation.metrics import share
from warploom.golden_model.statistics import Statistics

HEADINGS = {
    "ipc": "IPC", "requests": "requests/bank/cycle", "conflicts": "conflicts", "issuing": "issuing, %",
    "collector": "collector, %", "port": "port, %", "other": "other, %",
}
"""The numbers of `pressure`, and the headings of their columns."""


def pressure(run: Statistics, config: SmConfig) -> dict[str, float]:
    """Instructions per cycle, bank requests per bank and cycle, and conflicts of each; then the cycles of all
    schedulers: issuing, or waiting, by cause. *other* is waiting for operands, memory or barriers, and having no
    warp."""
    total = -(-run.cycles // config.front_end_interval) * config.schedulers
    collector, port = run.stalls["collector"], run.stalls["port"]
    waiting = sum(run.stalls.values())
    return dict(zip(HEADINGS, (
        run.ipc, run.bank_requests / run.cycles / config.banks,
        (run.bank_conflicts + run.port_conflicts) / run.bank_requests,
        share(total - waiting, total), share(collector, total), share(port, total),
        share(waiting - collector - port, total),
    ), strict=True))
