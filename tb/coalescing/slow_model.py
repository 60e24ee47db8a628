"""The golden arbiter of banks with slow rows that are requested by sub-banks, for benches."""

from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Read
from warploom.golden_model.coalescing.slow_arbiter import SlowCoalescingArbiter
from warploom.tb.renaming.requests import Granted, Requests


class SidedModel:
    """See `warploom.tb.renaming.requests.Model`."""

    def __init__(self, requests: Requests) -> None:
        config = requests.config
        inside = CoalescingArbiter(config.banks, config.collectors, config.alignment, config.write_paths,
                                   config.rotating_paths)
        self.arbiter = SlowCoalescingArbiter(inside, requests.writes_slowly, lambda read: requests.reads[read[:3]].slow)

    def decide(self, requests: Requests) -> Granted:
        """See `Model`."""
        asked = [None if write is None else write[:3] for write in requests.writes]
        decision = self.arbiter.decide(asked, [Read(*cell, read.width) for cell, read in requests.reads.items()])
        return ([writer for writer, granted in enumerate(decision.writes) if granted],
                sorted(read[:3] for read in decision.reads))
