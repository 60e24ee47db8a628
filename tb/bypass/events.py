"""Events of the golden model that must happen in a random test of collectors with windows."""

from typing import Any

from warploom.arch.config import SmConfig
from warploom.tb.bench import Coverage

SMALL = 4
"""A number of entries with which collectors are crowded."""

NONE_FREE, MERGE, QUEUE = "a warp without room", "a result for an entry with other dirty lanes", "evictions queue"
PASSED, TURNED = "an operand passes its entry", "a full collector takes as another leaves"
NO_ROW, DROPPED = "a register without a row is read", "a result that no entry awaits is dropped"


def cover_window(model: Any, coverage: Coverage) -> None:
    """The points of a cycle; call it after `settle`."""
    collectors = model.operands.collectors
    coverage.hit(NONE_FREE, not all(model.operands.free_entries))
    _cover_dispatched(model, coverage)
    if not model.config.writes_back:
        return
    coverage.hit(MERGE, any(entry.awaited and entry.dirty for collector in collectors
                            for entry in collector.entries if entry.used))
    if model.config.has_unallocated:
        _cover_rows(model, coverage)
    leaving = [collector.leaving() for collector in collectors]
    coverage.hit(QUEUE, sum(entry is not None and not entry.dropped for entry in leaving) > 1)


def _cover_dispatched(model: Any, coverage: Coverage) -> None:
    """The points of collectors that lose no cycle."""
    config, operands = model.config, model.operands
    for sent in model.dispatch:
        if sent is not None:
            collector = operands.collectors[sent["collector"]]
            if config.passes_storage:
                coverage.hit(PASSED, any(entry.arriving for entry in collector.held[0].entries))
            if not config.turnaround:
                coverage.hit(TURNED, len(collector.held) == config.window and operands.free_entries[collector.index])


def _cover_rows(model: Any, coverage: Coverage) -> None:
    """The points of transient values without rows."""
    operands = model.operands
    coverage.hit(NO_ROW, any(entry.register >= operands.registers for collector in operands.collectors
                             if collector.held for entry in collector.held[0].entries))
    latches = model.register_file.writeback.latches  # evictions have no hints
    coverage.hit(DROPPED, any(latch and latch["writes"] and not latch.get("to_file", 1) and not delivers
                              for latch, delivers in zip(latches, operands.delivers, strict=True)))


def events(config: SmConfig) -> list[str]:
    """The counts of a model (fields of its `counts`) that may not be zero. They include results without an entry
    (`filed`), and dirty registers of warps that have ended (`ended`)."""
    if not config.has_window:
        return []
    always = ["forwarded", "fetched", "repeated", "filed"]
    if not config.writes_back:
        return [*always, "both"]
    return [*always, "delivered", "slid", "overwritten", "ended", *(["crowded"] if config.entries <= SMALL else []),
            *(["dropped"] if config.has_hints else [])]
