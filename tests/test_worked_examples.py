"""The worked examples of the seeds, by seed and figure."""

from golden_model.arbiter import Arbiter
from golden_model.coalescing.arbiter import CoalescingArbiter, Read
from golden_model.coalescing.width import Code, renew
from golden_model.gating.reorder import reorder
from golden_model.gating.zero_mask import Interleaved, LaneOrder, Zero
from golden_model.words import ALL_LANES, join, split
from tb.gating.figures import FIG_4_3, FIG_4_4, FIG_4_5
from warploom.arch.config import Alignment, Gating


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


def test_000_fig_4_3() -> None:
    """The active mask gates reads of threads that do not execute, the zero mask also those of zeros."""
    figure = FIG_4_3
    assert LaneOrder(Gating.ACTIVE).needed(figure.active, Zero(0)) == figure.active
    for gating in (Gating.IN_LANE, Gating.CROSS_LANE):
        rules, zero = LaneOrder(gating), Zero(figure.zero)
        assert rules.needed(figure.active, zero) == figure.enabled
        threads = [rules.needed(1 << thread, zero) for thread in range(4)]  # each is controlled by its own bits
        assert threads == [0 if figure.zero >> thread & 1 else 1 << thread for thread in range(4)]
        read = split(rules.restore(join([*figure.held, *[0] * 28]), zero))
        assert all(read[thread] == figure.arrives[thread] for thread in range(4) if figure.active >> thread & 1)


def test_000_fig_4_4() -> None:
    """The zero masks of four lanes; the one with more zeros is selected, by each group for itself."""
    word = join([value for example in FIG_4_4 for value in example.lanes] + [0] * (32 - 4 * len(FIG_4_4)))
    in_lane, selected = (LaneOrder(gating).renew(Zero(0), word, ALL_LANES, full=True)
                         for gating in (Gating.IN_LANE, Gating.CROSS_LANE))  # fmt: skip
    old = Code(1, 0, left=False)
    stored = renew(old, word, ALL_LANES, full=True, toggle=False)
    across = Interleaved(Gating.CROSS_LANE).renew(Zero(0), old, stored, word, ALL_LANES, full=True)
    for group, example in enumerate(FIG_4_4):
        lanes = 4 * group
        assert in_lane.zero.mask >> lanes & 0xF == example.in_lane
        assert in_lane.columns >> lanes & 0xF == 0xF ^ example.in_lane  # zeros are not written
        assert [across.zero.mask >> 8 * byte + group & 1 for byte in range(4)] == [
            example.cross_lane >> byte & 1 for byte in range(4)
        ]
        assert selected.zero.reorder >> group & 1 == example.reorder
        mask = example.cross_lane if example.reorder else example.in_lane
        assert selected.zero.mask >> lanes & 0xF == mask
        assert selected.columns >> lanes & 0xF == 0xF ^ mask


def test_000_fig_4_5() -> None:
    """Bytes of the same position side by side, by six switches that are their own inverse; zeros then share columns."""
    for example in FIG_4_5:
        for group in range(8):
            before, after = (join([*[0] * 4 * group, *four, *[0] * (28 - 4 * group)]) for four in example)
            assert reorder(before, 1 << group) == after
            assert reorder(after, 1 << group) == before
            assert reorder(before, 0xFF ^ 1 << group) == before
    low_range = FIG_4_5[1].lanes
    write = LaneOrder(Gating.CROSS_LANE).renew(Zero(0), join([*low_range, *[0] * 28]), 0xF, full=True)
    assert write.zero == Zero(0xFFFF_FFFE, reorder=1)
    assert write.columns == 1
    assert reorder(write.byte_mask, 1) == 0xFFFF_FFFF
