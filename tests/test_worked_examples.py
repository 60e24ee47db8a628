"""The worked examples of the seeds, by seed and figure."""

from golden_model.arbiter import Arbiter
from golden_model.coalescing.arbiter import CoalescingArbiter, Read
from warploom.arch.config import Alignment


def test_000_fig_3_16a() -> None:
    """Baseline arbitration takes three cycles, with exactly the grants of docs/timing.md, section 3."""
    wanted = {0: {1, 2}, 1: {0, 3}, 2: {0, 2}, 3: {1, 3}}  # bank: collectors
    arbiter = Arbiter(banks=4, collectors=4)
    cycles = []
    while any(wanted.values()):
        requests = [sum(1 << collector for collector in wanted[bank]) for bank in range(4)]
        _, grants = arbiter.arbitrate([None, None, None], requests)
        cycles.append({(bank, collector) for bank, collector in enumerate(grants) if collector is not None})
        for bank, collector in cycles[-1]:
            wanted[bank].remove(collector)
        arbiter.advance()
    assert cycles == [{(1, 3), (2, 2), (3, 1)}, {(0, 1), (1, 0), (3, 3)}, {(0, 2), (2, 0)}]


def test_000_fig_3_16b() -> None:
    """The requests of Fig. 3.16(a) with the widths of (b), and its masks, take one cycle when they coalesce."""
    right, left = 0, 1
    requests = {
        Read(0, left, 2, 2): 0b1100, Read(0, right, 1, 2): 0b0011, Read(1, left, 3, 2): 0b1100,
        Read(1, right, 0, 1): 0b0001, Read(2, left, 0, 3): 0b1110, Read(2, right, 2, 1): 0b0001,
        Read(3, left, 1, 1): 0b1000, Read(3, right, 3, 2): 0b0011,
    }  # fmt: skip
    assert all(read.mask == mask for read, mask in requests.items())
    decision = CoalescingArbiter(4, 4, Alignment.REG).decide((None, None, None), list(requests))
    assert set(decision.reads) == set(requests)
    assert decision.bank_conflicts == decision.port_conflicts == 0
