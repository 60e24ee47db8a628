"""The memory system of the GPU by itself: bandwidth, queueing theory, conservation, worked timings
(docs/contract/gpu.md)."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from support.gpu_traffic import Wanted, latencies, run

from warploom.arch.gpu import GpuConfig, gpu_presets
from warploom.golden_model.gpu.clocks import Events, clocks
from warploom.golden_model.gpu.dram import DramChannel, DramCounts
from warploom.golden_model.gpu.packets import Kind

ONE_CLOCK = ["core_mhz=1000", "network_mhz=1000", "l2_mhz=1000", "dram_mhz=1000"]
SHORT = ["packet_queue=1", "l2_queue=1", "l2_latency=1", "dram_queue=1", "controller_latency=0", "l2_mshrs=2",
         "l2_merges=2", "l2_sets=2", "l2_ways=2", "channel_bytes=16"]
LONG = ["packet_queue=1024", "l2_queue=1024", "dram_queue=1024", "l2_mshrs=1024", "hop_latency=1", "l2_latency=1",
        "controller_latency=0"]
NETWORKS = ["crossbar", "mesh"]


def gpu(*settings: str, preset: str = "k20x") -> GpuConfig:
    return GpuConfig.preset(preset).with_settings(list(settings))


def row(config: GpuConfig, number: int) -> int:
    """The first line of a row of the only channel's only bank."""
    return number * config.row_bytes // config.line_bytes


# ---------------------------------------------------------------- bandwidth and queueing

@pytest.mark.sample(3)
@pytest.mark.parametrize(("preset", "settings"), [
    *((preset, []) for preset in gpu_presets()), ("k20x", ["channel_bytes=8"]), ("fermi", ["channel_bytes=64"]),
    ("k20x", ["sms=2", "slices=1", "channels=1", "l2_mhz=100", "l2_latency=10"]),
    ("k20x", ["network=mesh", "channels=3", "hop_latency=2"]),
], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_streams_reach_the_configured_peak(preset: str, settings: list[str]) -> None:
    config, each = gpu(*settings, preset=preset), 1500
    memory, sources = run(config, [[Wanted(0, Kind.READ, turn * config.sms + sm) for turn in range(each)]
                                   for sm in range(config.sms)], window=64)
    cycles = max(at for source in sources for _, at, _ in source.answered)
    reached = each * config.sms * config.line_bytes * config.core_mhz * 10**6 / cycles
    assert 0.95 < reached / config.peak_bytes_per_second <= 1
    assert sum(channel.counts.reads for channel in memory.channels) == each * config.sms


def poisson(rng: random.Random, rate: float, count: int) -> list[int]:
    """Cycles of arrivals at random, so many by cycle on average."""
    time, cycles = 0.0, []
    for _ in range(count):
        time += rng.expovariate(rate)
        cycles.append(int(time))
    return cycles


@pytest.mark.parametrize("load", [0.2, 0.5, 0.7])
def test_one_bank_is_an_m_d_1_queue(load: float) -> None:
    """Each access opens another row, so it takes the bank for tRAS + tRP, whatever came before."""
    config = gpu(*ONE_CLOCK, *LONG, "sms=1", "slices=1", "channels=1", "dram_banks=1")
    service = config.row_active + config.row_precharge
    arrivals = poisson(random.Random(1), load / service, 30_000)
    _, (source,) = run(config, [[Wanted(cycle, Kind.READ, row(config, 1 + n)) for n, cycle in enumerate(arrivals)]])
    _, (idle,) = run(config, [[Wanted(0, Kind.READ, row(config, 1)), Wanted(1000, Kind.READ, row(config, 2))]])
    waited = sum(latencies(source)) / len(arrivals) - latencies(idle)[1]
    assert waited == pytest.approx(load * service / (2 * (1 - load)), rel=0.05)


@pytest.mark.parametrize("load", [0.2, 0.5, 0.7])
def test_one_channel_of_the_network_is_an_m_d_1_queue(load: float) -> None:
    """Writes of whole lines to the only slice: its channel takes them one after the other, from any SM."""
    config = gpu(*ONE_CLOCK, *LONG, "sms=8", "slices=1", "channels=1", "channel_bytes=4", "l2_ways=64")
    service, rng, count = config.flits(128), random.Random(2), 3_000
    wanted = [[Wanted(cycle, Kind.WRITE, n % 8, 128) for n, cycle in
               enumerate(poisson(rng, load / service / config.sms, count))] for _ in range(config.sms)]
    _, sources = run(config, wanted)
    _, (idle, *_) = run(config, [[Wanted(0, Kind.WRITE, 0, 128)]])
    waited = sum(sum(latencies(source)) for source in sources) / (count * config.sms) - latencies(idle)[0]
    assert waited == pytest.approx(load * service / (2 * (1 - load)), rel=0.05)


# ---------------------------------------------------------------- conservation

def traffic(config: GpuConfig, seed: int, count: int = 300) -> list[list[Wanted]]:
    """Random requests of all SMs in bursts, to few lines, so that everything is full."""
    rng = random.Random(seed)
    lines = rng.choice([4, 40, 4000])
    return [[Wanted(cycle, kind := rng.choice(list(Kind)), rng.randrange(lines),
                    0 if kind is Kind.READ else 32 * rng.randint(1, config.line_bytes // 32))
             for cycle in sorted(rng.randrange(2 * count) for _ in range(count))] for _ in range(config.sms)]


@pytest.mark.parametrize("policy", ["back", "through"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("queues", [SHORT, []], ids=["short", "long"])
def test_every_request_is_answered_once(queues: list[str], network: str, policy: str) -> None:
    """`Source` fails for a second answer; no answer, in a deadlock, shows in the count."""
    for seed in range(3):
        config = gpu(*queues, f"network={network}", f"l2_write={policy}", f"sms={5 + seed}", "slices=4",
                     f"channels={1 << seed}", "mesh_columns=3", "core_mhz=7", "network_mhz=5", "l2_mhz=3",
                     "dram_mhz=11")
        wanted = traffic(config, seed)
        memory, sources = run(config, wanted)
        assert [len(source.answered) for source in sources] == [len(each) for each in wanted]
        kinds = Counter(request.kind for source in sources for *_, request in source.answered)
        assert kinds == Counter(each.kind for some in wanted for each in some)
        channels, slices = ([unit.counts for unit in units] for units in (memory.channels, memory.slices))
        assert sum(found.reads for found in channels) == sum(found.misses for found in slices)
        assert sum(found.writes for found in channels) == sum(found.written for found in slices)


class Shuffled(Events):
    """Units of one tick step in random order."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)

    def enrol(self) -> int:
        return self._random.getrandbits(60)


@pytest.mark.parametrize("queues", [SHORT, []], ids=["short", "long"])
@pytest.mark.parametrize("network", NETWORKS)
def test_the_order_of_units_in_a_tick_changes_nothing(
    network: str, queues: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = gpu(*ONE_CLOCK, *queues, f"network={network}", "sms=6", "slices=4", "channels=2", "mesh_columns=4")
    wanted = traffic(config, 7)

    def answers() -> list[list[tuple[int, int]]]:
        return [[(since, at) for since, at, _ in source.answered] for source in run(config, wanted)[1]]

    expected = answers()
    assert expected == answers()
    for seed in range(3):
        monkeypatch.setattr("support.gpu_traffic.Events", lambda seed=seed: Shuffled(seed))
        assert answers() == expected


# ---------------------------------------------------------------- worked timings

def test_clocks_have_exact_ratios() -> None:
    core, dram = clocks([732, 1300])
    assert core.period * 732 == dram.period * 1300 and core.period == 325 and dram.period == 183
    assert dram.cycle(core.period) == 2 and core.cycle(183 * 325) == 183


def dram_times(*requests: tuple[int, Kind, int], settings: tuple[str, ...] = ()) -> list[int]:
    """Latencies, of requests for lines of rows of one bank, above those of everything but the bank."""
    config = gpu(*ONE_CLOCK, *LONG, "sms=1", "slices=1", "channels=1", "dram_banks=1", *settings)
    lines = [Wanted(cycle, kind, number, 32 * (kind is Kind.WRITE)) for cycle, kind, number in requests]
    _, (source,) = run(config, [lines])
    hit = run(config, [[Wanted(0, Kind.READ, 0), Wanted(1000, Kind.READ, 0)]])[1][0]
    return [latency - latencies(hit)[1] for latency in latencies(source)]


def test_a_bank_by_itself() -> None:
    """A closed row, its next line, another row: tRCD, CL and the burst; CL and the burst; tRP before. To the bank takes
    a cycle more than from an L2 hit, and the answer leaves in the cycle after the line has come."""
    closed, hit, conflict = dram_times((0, Kind.READ, 0), (500, Kind.READ, 1), (1000, Kind.READ, 16))
    assert (closed, hit, conflict) == (1 + 12 + 12 + 4, 1 + 12 + 4, 1 + 12 + 12 + 12 + 4)


def test_open_rows_come_first() -> None:
    """Rows 0, 1, 0 come together: the second line of row 0 overtakes row 1, which then closes it."""
    times = dram_times((0, Kind.READ, 0), (0, Kind.READ, 16), (0, Kind.READ, 1))  # in order of the answers
    active = 28  # from row 0's activate to its precharge
    assert times == [29, 29 + 4, active + 12 + 29]


def test_the_window_of_reordering_is_the_queue_and_the_latency() -> None:
    """The same three: in one place nothing overtakes, in 1 + 2 places the third one does."""
    rows = (0, Kind.READ, 0), (0, Kind.READ, 16), (0, Kind.READ, 1)
    of_one, of_three = (dram_times(*rows, settings=("dram_queue=1", f"controller_latency={cycles}"))
                        for cycles in (0, 2))
    active, precharge = 28, 12
    assert of_one == [29, active + precharge + 29, 2 * (active + precharge) + 29]
    assert of_three == [2 + 29, 2 + 29 + 4, 2 + active + precharge + 29]


@pytest.mark.parametrize(("before", "served"), [
    ([], [0, 17]), ([1, 16], [1, 16, 0, 17]), ([16, 1], [16, 1, 17, 0]),
])
def test_accesses_of_a_slice_in_one_cycle(before: list[int], served: list[int]) -> None:
    """The one to the bank that has been waited for without a break is older; else the one that was sent first. Lines 0
    and 1 are in bank 0, 16 and 17 in bank 1; 0 and 17 come together, later than the others."""
    config = gpu("slices=1", "channels=1", "dram_banks=2", "controller_latency=0", "activate_interval=1")
    read, counts = channel_times(config, *((tick, 0, line, False) for tick, lines in [(0, before), (4, [0, 17])]
                                           for line in lines))
    assert [*read] == served
    assert counts.data_end == max(read.values())


@pytest.mark.parametrize(("sources", "first"), [((0, 1), 1), ((1, 0), 17)])
def test_in_one_cycle_the_lower_slice_is_older(sources: tuple[int, int], first: int) -> None:
    """Rows of two banks are open, and both are read from next: the bus is free for the second a burst later."""
    config = gpu("slices=2", "channels=1", "dram_banks=2", "controller_latency=0")
    both = [(1000, source, line, False) for source, line in zip(sources, (1, 17), strict=True)]
    read, counts = channel_times(config, (0, 0, 0, False), (0, 0, 16, False), *both)
    assert read[first] == 1000 + 12 + 4
    assert read[18 - first] == read[first] + 4
    assert counts.data_cycles == 4 * 4


def test_a_column_command_goes_before_an_older_command_for_a_row() -> None:
    config = gpu("slices=2", "channels=1", "dram_banks=2", "controller_latency=0")
    read, _ = channel_times(config, (0, 0, 0, False), (1000, 0, 16, False), (1000, 1, 1, False))
    assert (read[1], read[16]) == (1000 + 12 + 4, 1001 + 12 + 12 + 4)


def test_the_bus_moves_the_data_of_one_write_at_a_time() -> None:
    """Writes to two open rows take a burst each; behind a read the bus turns."""
    config = gpu("slices=1", "channels=1", "dram_banks=2", "controller_latency=0", "bus_turnaround=5")
    rows = (0, 0, 0, False), (0, 0, 16, False)
    writes = [(1000, 0, line, True) for line in (1, 17, 2, 18)]
    assert channel_times(config, *rows, *writes)[1].data_end == 1000 + 4 + 4 * 4
    assert channel_times(config, *rows, (1000, 0, 1, False), (1000, 0, 17, True))[1].data_end == 1000 + 12 + 4 + 5 + 4


def channel_times(config: GpuConfig, *accesses: tuple[int, int, int, bool]) -> tuple[dict[int, int], DramCounts]:
    """When lines that are read are there, in this order, and what a channel counts: accesses by tick, source, line, and
    whether they write."""
    events, read = Events(), dict[int, int]()
    channel = DramChannel(config, events, *clocks([1]))
    channel.sources = [(channel, lambda tick, line: read.update({line: tick}))] * config.slices_per_channel
    for tick, source, line, writes in accesses:
        channel.put(tick, source, line, writes=writes)
    events.run()
    return read, channel.counts


def test_the_limits_between_commands() -> None:
    """tRRD between activates of two banks; the bus turns after a write; tWR, or a burst after a read, before the
    precharge. Writes go through, and reads are sent a cycle after them."""
    assert dram_times((0, Kind.READ, 0), (0, Kind.READ, 16), settings=("dram_banks=2",)) == [29, 29 + 6]
    write = (0, Kind.WRITE, 0)
    *_, turned = dram_times(write, (0, Kind.READ, 1), settings=("l2_write=through", "bus_turnaround=50"))
    assert turned == 1 + 12 + 4 + 4 + 50 + 4  # activate, WL, written, turned, read
    *_, other = dram_times(write, (0, Kind.READ, 16), settings=("l2_write=through",))
    assert other == 1 + 12 + 4 + 4 + 12 + 12 + 12 + 12 + 4  # activate, WL, written, tWR, tRP, tRCD, CL, read
    *_, read, other = dram_times((0, Kind.READ, 0), (500, Kind.READ, 1), (501, Kind.READ, 16))
    assert (read, other) == (1 + 12 + 4, 1 + 3 + 12 + 12 + 12 + 4)  # a burst after the read before, then tRP, tRCD, CL
    *_, soon = dram_times(write, (0, Kind.READ, 1), settings=("l2_write=through", "bus_turnaround=1"))
    assert soon == 1 + 12 + 4 + 12 + 4  # activate, a burst after the write, CL, read: the bus is free before


def test_the_oldest_access_has_the_first_command_for_a_row() -> None:
    """Rows 0 and 2 of one bank, and between them row 0 of the other, which waits for tRRD. In the cycle in which that
    is over, 28 after the first activate, row 0 might be closed too, but for the access that came last: it is closed in
    the next one, and row 2 waits for tRRD again."""
    rows = (0, Kind.READ, 0), (0, Kind.READ, 16), (0, Kind.READ, 32)
    assert dram_times(*rows, settings=("dram_banks=2", "activate_interval=28")) == [29, 29 + 28, 29 + 2 * 28]


def test_an_entry_is_free_after_the_column_command() -> None:
    """With one entry, the other bank's access is looked up in the next cycle, and is at the channel one later."""
    times = dram_times((0, Kind.READ, 0), (0, Kind.READ, 16), settings=("dram_banks=2", "dram_queue=1"))
    assert times == [1 + 12 + 12 + 4, 1 + 12 + 2 + 12 + 12 + 4]


def test_reads_that_find_the_row_open_follow_each_other_on_the_bus() -> None:
    times = dram_times(*((1000, Kind.READ, line) for line in range(8)))
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps == [4] * 7


def counts(config: GpuConfig, wanted: list[Wanted]) -> Counter[str]:
    memory, _ = run(config, [wanted])
    return Counter({name: sum(getattr(slice_.counts, name) for slice_ in memory.slices)
                    for name in ("hits", "misses", "merges", "allocated", "written")})


def test_l2_reads_hit_miss_and_merge() -> None:
    found = counts(gpu(), [Wanted(0, Kind.READ, 5), Wanted(1, Kind.READ, 5), Wanted(2000, Kind.READ, 5)])
    assert found == Counter(misses=1, merges=1, hits=1)


def test_l2_writes_back_what_is_dirty() -> None:
    one_set = ["slices=1", "channels=1", "l2_sets=1", "l2_ways=2"]
    wanted = [Wanted(0, Kind.WRITE, 0, 128), Wanted(2000, Kind.WRITE, 1, 32), Wanted(4000, Kind.READ, 2),
              Wanted(6000, Kind.READ, 3), Wanted(8000, Kind.READ, 4)]
    assert counts(gpu(*one_set), wanted) == Counter(allocated=1, misses=4, written=2)
    assert counts(gpu(*one_set, "l2_write=through"), wanted) == Counter(misses=3, written=2)


ONE_SET = ["slices=1", "channels=1", "l2_sets=1"]


@pytest.mark.parametrize(("settings", "wanted", "expected"), [
    (["l2_merges=2"], [(Kind.READ, 0)] * 3, Counter(misses=1, merges=1, hits=1)),
    (["l2_ways=2"], [(Kind.READ, line) for line in (0, 1, 0, 2, 0)], Counter(misses=3, hits=2)),
    (["l2_ways=1"], [(Kind.ATOMIC, 0), (Kind.READ, 1)], Counter(misses=2, written=1)),
    (["l2_ways=1"], [(Kind.READ, 0), (Kind.ATOMIC, 0), (Kind.READ, 1)], Counter(misses=2, hits=1, written=1)),
    (["l2_ways=1"], [(Kind.READ, 0), (Kind.READ, 1)], Counter(misses=2)),
    (["l2_write=through"], [(Kind.ATOMIC, 0), (Kind.ATOMIC, 0)], Counter(misses=1, hits=1, written=2)),
    (["l2_write=through", "l2_ways=1"], [(Kind.ATOMIC, 0), (Kind.WRITE, 0), (Kind.READ, 1)],
     Counter(misses=2, hits=1, written=2)),
], ids=["merges", "least recently used", "an atomic that misses", "an atomic that hits", "clean", "through",
        "clean, through"])
def test_what_requests_find(settings: list[str], wanted: list[tuple[Kind, int]], expected: Counter[str]) -> None:
    """The first request included, two wait for a line; each answer uses its line; an atomic makes it dirty."""
    gap = 1 if "l2_merges=2" in settings else 2000
    requests = [Wanted(gap * n, kind, line, 32 * (kind is not Kind.READ)) for n, (kind, line) in enumerate(wanted)]
    assert counts(gpu(*ONE_SET, *settings), requests) == expected


@pytest.mark.parametrize(("kind", "size"), [*((Kind.WRITE, size) for size in (32, 64, 96)), (Kind.ATOMIC, 128)])
def test_a_write_of_a_part_of_a_line_fetches_it(kind: Kind, size: int) -> None:
    """And an atomic on a whole one, which it reads."""
    assert counts(gpu(), [Wanted(0, kind, 0, size)]) == Counter(misses=1)


ALONE = [*ONE_CLOCK, *LONG, "sms=1", "slices=1", "channels=1", "hop_latency=5", "header_bytes=8", "channel_bytes=32",
         "l2_latency=20", "l1_latency=10"]


@pytest.mark.parametrize(("kind", "size", "latency"), [
    (Kind.READ, 0, 1 + 5 + 20 + 1 + 5 + 4 + 10),  # 1 flit, and 5 with the line
    (Kind.ATOMIC, 32, 1 + 5 + 1 + 20 + 1 + 5 + 1 + 10),  # 2 flits each way, with the sector
    (Kind.WRITE, 32, 1 + 5 + 1 + 20 + 1 + 5 + 10),  # 2 flits, and an answer without data
])
def test_the_way_to_the_l2_and_back(kind: Kind, size: int, latency: int) -> None:
    """To the queue; a router, and the flits behind the header; the L2; to its queue; a router and flits; the L1."""
    memory, (source,) = run(gpu(*ALONE), [[Wanted(0, Kind.READ, 0), Wanted(1000, kind, 0, size)]])
    assert latencies(source)[1] == latency
    assert memory.ports[0].last == 1000 + latency


@pytest.mark.parametrize(("clock", "cycle"), [
    ("core_mhz=500", 19 + 10),  # in the queue at tick 2, at the L2 at 7, looked up at 27, here at 28 + 9 = 37
    ("l2_mhz=500", 57 + 10),  # at the L2 at tick 6, looked up 20 cycles later, at 46, in its queue from 48
])
def test_the_way_through_clocks(clock: str, cycle: int) -> None:
    """The SM's cycle is the first one that starts when the last flit is there, or later."""
    _, (source,) = run(gpu(*ALONE, clock), [[Wanted(0, Kind.READ, 0), Wanted(1000, Kind.READ, 0)]])
    assert latencies(source)[1] == cycle


def test_a_slice_has_entries_for_its_latency_too() -> None:
    """Writes of one flit. Each has one of 1 + 3 entries from when it leaves the SM's queue, in t, until its look-up, in
    t + 1 + 3; so the fifth one leaves in the cycle after the look-up of the first."""
    config = gpu(*ALONE, "hop_latency=1", "channel_bytes=64", "l2_queue=1", "l2_latency=3")
    writes = [Wanted(1000, Kind.WRITE, 0, 32) for _ in range(8)]
    _, (source,) = run(config, [[Wanted(0, Kind.WRITE, 0, 128), *writes]])
    leaves = [1, 2, 3, 4, 6, 7, 8, 9]
    assert latencies(source)[1:] == [leave + 1 + 3 + 1 + 1 + 10 for leave in leaves]


def test_an_mshr_is_free_when_its_line_has_come() -> None:
    """Two lines of an open row follow each other by a burst; with one MSHR the second one is requested when the first
    has come: to the channel, CL and the burst."""
    for mshrs, gap in ((2, 4), (1, 1 + 12 + 4)):
        first, second = dram_times((0, Kind.READ, 0), (0, Kind.READ, 1), settings=(f"l2_mshrs={mshrs}",))
        assert second - first == gap


def test_those_that_wait_for_a_line_are_answered_in_order() -> None:
    """One a cycle, where answers are one flit long."""
    kinds = [Kind.WRITE, Kind.ATOMIC, Kind.WRITE, Kind.ATOMIC]
    _, (source,) = run(gpu(*ALONE, "channel_bytes=64"), [[Wanted(0, kind, 0, 32) for kind in kinds]])
    assert [request.kind for *_, request in source.answered] == kinds
    assert [after - before for before, after in pairwise(latencies(source))] == [1, 1, 1]


def test_a_line_is_dirty_when_it_enters_if_an_atomic_waits_for_it() -> None:
    """A read is looked up in k; its line comes in k + 29: to the channel, tRCD, CL, a burst. Then a whole line is
    looked up, which was sent 25 cycles after the read and has 4 flits more: it evicts the line before the atomic is
    answered."""
    wanted = [Wanted(0, Kind.READ, 0), Wanted(1, Kind.ATOMIC, 0, 32), Wanted(25, Kind.WRITE, 1, 128)]
    assert counts(gpu(*ALONE, *ONE_SET, "l2_ways=1"), wanted) == Counter(misses=1, merges=1, allocated=1, written=1)


def test_a_write_that_waits_for_its_answer_has_not_entered() -> None:
    """Three answers of 5 flits leave one after the other through one entry, and a whole line is written behind them."""
    requests = [Wanted(1000, Kind.READ, 0) for _ in range(3)]
    wanted = [Wanted(0, Kind.READ, 0), *requests, Wanted(1000, Kind.WRITE, 1, 128)]
    found = counts(gpu(*ALONE, "packet_queue=1", "l2_ways=2"), wanted)
    assert found == Counter(misses=1, hits=3, allocated=1)


# Writes of a line are 5 flits long, their answers 1.

def test_a_packet_occupies_its_channel() -> None:
    """Two SMs send to one slice: the second packet leaves when the last flit of the first has."""
    _, sources = run(gpu(*ALONE, "sms=2", "l2_ways=16"), [[Wanted(0, Kind.WRITE, sm, 128)] for sm in range(2)])
    first, second = (latencies(source)[0] for source in sources)
    assert second - first == 5


def test_a_packet_occupies_its_input() -> None:
    """One SM sends to two slices, which have channels of their own."""
    config = gpu(*ALONE, "slices=2", "interleave_bytes=128")
    _, (source,) = run(config, [[Wanted(0, Kind.WRITE, line, 128) for line in range(2)]])
    first, second = latencies(source)
    assert second - first == 5


def test_an_entry_is_free_when_the_last_flit_has_left() -> None:
    """A packet is in the SM's only entry from 1 on, and leaves in 1 to 5."""
    _, (source,) = run(gpu(*ALONE, "packet_queue=1"), [[Wanted(0, Kind.WRITE, line, 128) for line in range(3)]])
    assert [request.sent for *_, request in source.answered] == [0, 6, 12]


def test_a_mesh_goes_along_the_row_first_and_takes_a_router_at_a_time() -> None:
    """Per hop the latency of a router; one more to leave the network, with the rest of the flits."""
    config = gpu(*ONE_CLOCK, *LONG, "network=mesh", "mesh_columns=4", "sms=15", "slices=1", "channels=1",
                 "hop_latency=5")
    sms, (slice_,) = config.nodes
    seen = []
    for sm, node in enumerate(sms):
        wanted: list[list[Wanted]] = [[] for _ in sms]
        wanted[sm] = [Wanted(0, Kind.WRITE, 0, 128)]
        memory, sources = run(config, wanted)
        hops = abs(node // 4 - slice_ // 4) + abs(node % 4 - slice_ % 4)
        seen.append(latencies(sources[sm])[0] - 10 * hops)
        assert memory.requests.flits == (hops + 1) * config.flits(128)
        corner = node // 4 * 4 + slice_ % 4
        assert any(channel.flits for channel in memory.requests.routers[corner].channels)
    assert len(set(seen)) == 1


def test_inputs_of_a_mesh_are_numbered_by_where_they_come_from() -> None:
    """The slice is between two SMs: that in the east is served first."""
    config = gpu(*ONE_CLOCK, *LONG, "network=mesh", "mesh_columns=3", "sms=2", "slices=1", "channels=1", "l2_ways=64")
    assert config.nodes == ((0, 2), (1,))
    _, (west, east) = run(config, [[Wanted(0, Kind.WRITE, sm, 128)] for sm in range(2)])
    assert latencies(west)[0] - latencies(east)[0] == config.flits(128)


def test_an_output_serves_its_inputs_in_turn() -> None:
    config = gpu(*ONE_CLOCK, *LONG, "sms=4", "slices=1", "channels=1", "channel_bytes=4", "l2_ways=64")
    _, sources = run(config, [[Wanted(0, Kind.WRITE, sm, 128) for _ in range(3)] for sm in range(4)])
    order = sorted((at, sm) for sm, source in enumerate(sources) for _, at, _ in source.answered)
    assert [sm for _, sm in order] == [0, 1, 2, 3] * 3


def test_duplicates_are_lines_of_another_sm_within_2000_cycles() -> None:
    from warploom.golden_model.gpu.duplicates import Duplicates

    seen = Duplicates()
    for sm, cycle, line in [(0, 0, 1), (0, 10, 1), (1, 2010, 1), (1, 2011, 1), (0, 4012, 1), (2, 0, 2), (3, 2001, 2)]:
        seen.allocated(sm, cycle, line)
    assert (seen.taken, seen.duplicates) == (7, 1)
    for sm, cycle in [(0, 0), (1, 1000), (1, 2000), (1, 2001)]:
        seen.allocated(sm, cycle, 3)
    assert seen.duplicates == 3  # that SM 1 has requested the line itself changes nothing
