"""The worked examples of the seeds, by seed and figure."""

from golden_model.arbiter import Arbiter


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
