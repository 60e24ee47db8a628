"""Golden models of the coalescing units: arbiter, banks, crossbar, mask buffer, and the wiring between the two
forms."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Alignment, Coalescing
from warploom.golden_model.byte_order import (
    byte_enables,
    byte_mask,
    from_sub_banks,
    sub_bank_mask,
    to_sub_banks,
)
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Decision, Read, Write
from warploom.golden_model.coalescing.crossbar import SlicedCrossbar
from warploom.golden_model.dual_bank import DualBank
from warploom.golden_model.register_file.mask_buffer import MaskBuffer
from warploom.golden_model.register_file.width import Encoding, renew
from warploom.golden_model.words import ALL_LANES, broadcast

RIGHT, LEFT = 0, 1
PATHS = SmConfig().write_paths
NO_WRITES: tuple[None, None, None] = (None, None, None)
SIZES = [(4, 4), (2, 4), (4, 2), (8, 3), (3, 8), (1, 1), (1, 5), (5, 1)]

FIG_3_16B = {
    Read(0, LEFT, 2, 2): 0b1100, Read(0, RIGHT, 1, 2): 0b0011,
    Read(1, LEFT, 3, 2): 0b1100, Read(1, RIGHT, 0, 1): 0b0001,
    Read(2, LEFT, 0, 3): 0b1110, Read(2, RIGHT, 2, 1): 0b0001,
    Read(3, LEFT, 1, 1): 0b1000, Read(3, RIGHT, 3, 2): 0b0011,
}
"""The requests of [RADAIDEH], Fig. 3.16(b), with the masks printed there."""


def test_masks_of_the_seed() -> None:
    """[RADAIDEH], Fig. 3.13: byte 0 in sub-bank 0 or in sub-bank 3."""
    assert [sub_bank_mask(width, False) for width in range(1, 5)] == [0b0001, 0b0011, 0b0111, 0b1111]
    assert [sub_bank_mask(width, True) for width in range(1, 5)] == [0b1000, 0b1100, 0b1110, 0b1111]


@pytest.mark.parametrize("diagonal", range(4))
def test_eight_coalescable_requests_take_one_cycle(diagonal: int) -> None:
    """[RADAIDEH], Fig. 3.16(b), with any priority."""
    arbiter = CoalescingArbiter(4, 4, Alignment.REG, PATHS)
    arbiter.advance(diagonal)
    assert all(read.mask == mask for read, mask in FIG_3_16B.items())
    decision = arbiter.decide(NO_WRITES, list(FIG_3_16B))
    assert set(decision.reads) == set(FIG_3_16B)
    assert (decision.bank_conflicts, decision.port_conflicts) == (0, 0)


def stored(width: int, left: int, value: int) -> tuple[int, int]:
    """Word and byte mask, in sub-bank form, of a full write of the value to all lanes."""
    write = renew(Encoding(1, 0, left == LEFT), broadcast(value), ALL_LANES, full=True, side=left == LEFT)
    assert write.encoding.width == width
    return to_sub_banks(write.word, left == LEFT), to_sub_banks(write.byte_mask, left == LEFT)


def slice_grants(banks: int, reads: Sequence[Read]) -> list[list[int]]:
    """For each slice and bank, the mask of collectors that receive it."""
    grants = [[0] * banks for _ in range(4)]
    for read in reads:
        for part in range(4):
            grants[part][read.bank] |= (read.mask >> part & 1) << read.collector
    return grants


def test_two_writes_share_a_bank() -> None:
    """[RADAIDEH], Fig. 3.6(a): three bytes on the right, one on the left, both in the bank after one cycle."""
    arbiter, bank = CoalescingArbiter(1, 1, Alignment.REG, PATHS), DualBank(16)
    assert arbiter.decide(((0, RIGHT, 3), None, (0, LEFT, 1)), []).writes == (True, False, True)
    bank.write(2, *stored(3, RIGHT, 0x123456))
    bank.write(3, *stored(1, LEFT, 0x78))
    assert from_sub_banks(bank.read(2), False) == broadcast(0x123456)
    assert from_sub_banks(bank.read(3), True) == broadcast(0x78)
    decision = arbiter.decide(((0, RIGHT, 3), None, (0, LEFT, 2)), [])
    assert decision == Decision((True, False, False), (), bank_conflicts=1, port_conflicts=0)


def test_a_read_and_a_write_share_a_bank() -> None:
    """[RADAIDEH], Fig. 3.6(b) with the numbers of section 3.6.2.4: R2, one byte, is read while R3, three bytes, is
    written."""
    arbiter, read = CoalescingArbiter(1, 1, Alignment.REG, PATHS), Read(0, RIGHT, 0, 1)
    assert arbiter.decide(((0, LEFT, 3), None, None), [read]) == Decision((True, False, False), (read,), 0, 0)
    assert arbiter.decide(((0, LEFT, 4), None, None), [read]) == Decision((True, False, False), (), 1, 0)


def test_a_read_gives_way_to_a_pending_write() -> None:
    arbiter, read = CoalescingArbiter(2, 2, Alignment.REG, PATHS), Read(0, RIGHT, 0, 2)
    for pending, granted in ((0, LEFT, 3), ()), ((0, LEFT, 2), (read,)), ((1, LEFT, 3), (read,)):
        decision = arbiter.decide(NO_WRITES, [read], pending=(pending, None, None))
        assert decision == Decision((False,) * 3, granted, bank_conflicts=not granted, port_conflicts=0)
    both = (0, LEFT, 3), None, (0, LEFT, 1)  # two pending writes that conflict with each other hold back no more
    other = Read(1, RIGHT, 1, 4)
    assert arbiter.decide((both[0], None, None), [read, other], pending=both).reads == (other,)


def test_two_reads_share_a_bank() -> None:
    """[RADAIDEH], Fig. 3.6(c) and section 3.6.2.6: masks 0001 and 1100, for different collectors."""
    arbiter, crossbar, bank = CoalescingArbiter(1, 2, Alignment.REG, PATHS), SlicedCrossbar(1, 2), DualBank(16)
    right, left = Read(0, RIGHT, 0, 1), Read(0, LEFT, 1, 2)
    for row, (word, mask) in enumerate([stored(1, RIGHT, 0x12), stored(2, LEFT, 0x3456)]):
        bank.write(row, word, mask)
    decision = arbiter.decide(NO_WRITES, [left, right])
    assert set(decision.reads) == {left, right}
    shown = bank.read(0) | bank.read(1)  # each sub-bank outputs the row of its access; both rows are zero elsewhere
    first, second = crossbar.route([shown], slice_grants(1, decision.reads))
    assert (from_sub_banks(first, False), from_sub_banks(second, True)) == (broadcast(0x12), broadcast(0x3456))


def test_two_reads_share_a_collector() -> None:
    """[RADAIDEH], Fig. 3.6(d) and section 3.6.2.6: masks 0011 and 1100 in different banks, for one collector."""
    arbiter, crossbar = CoalescingArbiter(2, 1, Alignment.REG, PATHS), SlicedCrossbar(2, 1)
    right, left = Read(0, RIGHT, 0, 2), Read(1, LEFT, 0, 2)
    decision = arbiter.decide(NO_WRITES, [left, right])
    assert set(decision.reads) == {left, right}
    words = [stored(2, RIGHT, 0x1234)[0], stored(2, LEFT, 0x5678)[0]]
    assert crossbar.route(words, slice_grants(2, decision.reads)) == [words[0] | words[1]]
    wider = Read(1, LEFT, 0, 3)
    assert arbiter.decide(NO_WRITES, [right, wider]) == Decision((False,) * 3, (right,), 0, port_conflicts=1)


def test_the_write_path_of_sp_and_sfu() -> None:
    """SFU waits for SP even if their banks differ; MEM has a separate path."""
    arbiter = CoalescingArbiter(4, 4, Alignment.REG, PATHS)
    writes = ((0, RIGHT, 1), (1, RIGHT, 1), (2, RIGHT, 1))
    assert arbiter.decide(writes, []) == Decision((True, False, True), (), bank_conflicts=1, port_conflicts=0)
    assert arbiter.decide((None, *writes[1:]), []).writes == (False, True, True)


class Reference:
    """The arbiter as in docs/contract/register_file.md: all cells in their order, resources as lists and sets."""

    def __init__(self, alignment: Alignment) -> None:
        self.alignment = alignment
        self.holders: dict[tuple[str, int], list[tuple[int, int]]] = {}  # side and width of each holder

    def fits(self, kind: str, number: int, request: tuple[int, int]) -> bool:
        together = [*self.holders.get((kind, number), []), request]
        if self.alignment is Alignment.UPPER_BOUND:
            return len(together) <= 2
        if self.alignment is Alignment.IDEAL:
            return len(together) <= 2 and sum(width for _, width in together) <= 4
        held = [3 - byte if side == LEFT else byte for side, width in together for byte in range(width)]
        return len(held) == len(set(held))

    def take(self, kind: str, number: int, request: tuple[int, int]) -> None:
        self.holders.setdefault((kind, number), []).append(request)

    def decide(
        self, banks: int, collectors: int, diagonal: int, writes: Sequence[Write | None], reads: Sequence[Read]
    ) -> Decision:
        written, conflicts = [False, False, False], 0
        for writer, write in enumerate(writes):
            if write is not None:
                bank, *request = write
                path_free = not (writer == 1 and writes[0] is not None)
                written[writer] = path_free and self.fits("bank", bank, (request[0], request[1]))
                if written[writer]:
                    self.take("bank", bank, (request[0], request[1]))
                else:
                    conflicts += 1
        size = max(banks, collectors)
        cells = [(b, c) for p in range(size) for b in range(banks) for c in range(collectors)
                 if (b + c) % size == (diagonal + p) % size]
        assert len(cells) == banks * collectors
        waiting = {(read.bank, read.collector, read.side): read for read in reads}
        granted, refused = [], []
        for bank, collector in cells:
            for side in (RIGHT, LEFT):
                read = waiting.get((bank, collector, side))
                if read is None:
                    continue
                request = (side, read.width)
                if self.fits("bank", bank, request) and self.fits("port", collector, request):
                    self.take("bank", bank, request)
                    self.take("port", collector, request)
                    granted.append(read)
                else:
                    refused.append(read)
        in_bank = sum(not self.fits("bank", read.bank, (read.side, read.width)) for read in refused)
        return Decision(tuple(written), tuple(granted), conflicts + in_bank, len(refused) - in_bank)


def random_requests(banks: int, collectors: int) -> tuple[list[Write | None], list[Read]]:
    """Three writers and a matrix of random density, in random order."""
    widths = random.choice([(1,), (1, 2), (1, 2, 3, 4), (4,)])
    density, writing = random.choice([0.1, 0.4, 1.0]), random.random()
    write = [(random.randrange(banks), random.randrange(2), random.choice(widths)) for _ in range(3)]
    writes = [request if random.random() < writing else None for request in write]
    reads = [Read(bank, side, collector, random.choice(widths))
             for bank in range(banks) for side in (RIGHT, LEFT) for collector in range(collectors)
             if random.random() < density]
    random.shuffle(reads)
    return writes, reads


@pytest.mark.parametrize("alignment", list(Alignment))
@pytest.mark.parametrize(("banks", "collectors"), SIZES)
def test_decisions_are_those_of_the_text(alignment: Alignment, banks: int, collectors: int) -> None:
    random.seed(f"{alignment} {banks} {collectors}")
    arbiter, seen = CoalescingArbiter(banks, collectors, alignment, PATHS), Counter()
    for cycle in range(500):
        writes, reads = random_requests(banks, collectors)
        decision = arbiter.decide(writes, reads)
        assert arbiter.diagonal == cycle % max(banks, collectors)
        assert decision == Reference(alignment).decide(banks, collectors, arbiter.diagonal, writes, reads)
        seen["coalesced"] += len(decision.reads) > len({read.bank for read in decision.reads})
        seen["written"] += any(decision.writes)
        seen["bank"] += decision.bank_conflicts
        seen["port"] += decision.port_conflicts
        arbiter.advance()
    assert seen["coalesced"] > 10 and seen["written"] > 10 and seen["bank"] > 10
    assert seen["port"] or banks == 1


def waited(banks: int, collectors: int, victim: Read) -> int:
    """The maximum number of consecutive cycles, without a write in its bank, that the victim waited, with random
    requests of all other collectors and two more operands of its own instruction."""
    arbiter = CoalescingArbiter(banks, collectors, Alignment.REG, PATHS)
    arbiter.advance(random.randrange(arbiter.size))
    own = [Read(random.choice([victim.bank, random.randrange(banks)]), random.choice([RIGHT, LEFT]), victim.collector,
                random.choice([1, 4])) for _ in range(2)]
    longest = row = 0
    while True:
        writes, everybody = random_requests(banks, collectors)
        rivals = [read for read in everybody if read.collector != victim.collector]
        offers = {read[:3]: read for read in [*rivals, *own, victim]}  # one for each bank, side and collector
        decision = arbiter.decide(writes, list(offers.values()))
        taken = {write[0] for write, granted in zip(writes, decision.writes, strict=True) if write and granted}
        row = 0 if victim.bank in taken else row + 1
        longest = max(longest, row)
        if victim in decision.reads:
            return longest
        for read in set(own) & set(decision.reads):
            own.remove(read)
        arbiter.advance()


@pytest.mark.parametrize(("side", "turns"), [(RIGHT, 1), (LEFT, 3)])
@pytest.mark.parametrize(("banks", "collectors"), SIZES)
def test_no_read_starves(banks: int, collectors: int, side: int, turns: int) -> None:
    """The bound of docs/contract/register_file.md: N cycles in a row without a write in the bank for a right request,
    3N for a left one."""
    random.seed(f"{banks} {collectors} {side}")
    bound = turns * max(banks, collectors)
    for _ in range(500):
        victim = Read(random.randrange(banks), side, random.randrange(collectors), random.choice([1, 2, 3, 4]))
        assert waited(banks, collectors, victim) <= bound


@pytest.mark.parametrize(("side", "turns"), [(RIGHT, 1), (LEFT, 3)])
def test_the_bound_is_reached(side: int, turns: int) -> None:
    """Competing full words in all cells that come first, and two right operands of the same collector before a left
    one."""
    arbiter, victim = CoalescingArbiter(4, 4, Alignment.REG, PATHS), Read(1, side, 2, 1)
    arbiter.advance(4)  # its turn, cell (1, 2) on diagonal 3, is as far away as possible
    rivals = [Read(1, RIGHT, collector, 4) for collector in (0, 1, 3)]
    own = [Read(1, RIGHT, 2, 4)] * 2 if side == LEFT else []
    cycles = 1
    while victim not in (granted := arbiter.decide(NO_WRITES, [victim, *rivals, *own[:1]]).reads):
        own = own[1:] if own and own[0] in granted else own
        arbiter.advance()
        cycles += 1
    assert cycles == turns * 4


@pytest.mark.parametrize("alignment", list(Alignment))
def test_codes_are_kept(alignment: Alignment) -> None:
    """One byte and positive after reset. With `write` the side is stored; otherwise it follows from the register."""
    buffer = MaskBuffer(SmConfig(coalescing=Coalescing.ON, alignment=alignment, rows=16))
    stores_side = alignment is Alignment.WRITE
    for row in range(16):
        for left in (False, True):
            assert buffer.read(1, row, left) == Encoding(1, 0, row % 2 == 1 if stores_side else left)
    encodings = [Encoding(width, sign, left) for width in (1, 2, 3, 4) for sign in (0, 1) for left in (False, True)]
    for row, encoding in enumerate(encodings):
        buffer.write(3, row, encoding)
    for row, encoding in enumerate(encodings):
        assert buffer.read(3, row, encoding.left) == encoding
        other = encoding if stores_side else encoding._replace(left=not encoding.left)
        assert buffer.read(3, row, not encoding.left) == other
    assert sorted(encoding.packed for encoding in encodings) == list(range(16))


def test_masks_of_codes() -> None:
    assert [Encoding(width, 0, False).mask for width in (1, 2, 3, 4)] == [0b0001, 0b0011, 0b0111, 0b1111]
    assert [Encoding(width, 0, True).mask for width in (1, 2, 3, 4)] == [0b1000, 0b1100, 0b1110, 0b1111]


def test_a_byte_of_every_lane_is_in_one_sub_bank() -> None:
    for lane in range(32):
        for byte in range(4):
            word = 0xA5 << 32 * lane + 8 * byte
            assert to_sub_banks(word, False) == 0xA5 << 256 * byte + 8 * lane
            assert to_sub_banks(word, True) == 0xA5 << 256 * (3 - byte) + 8 * lane
    random.seed(1)
    for left in (False, True):
        word = random.getrandbits(1024)
        assert from_sub_banks(to_sub_banks(word, left), left) == word


def test_a_byte_enable_for_each_byte() -> None:
    random.seed(2)
    for position in range(128):
        assert byte_enables(0xFF << 8 * position) == 1 << position
    for enables in [0, 1, 1 << 127, (1 << 128) - 1, random.getrandbits(128)]:
        assert byte_enables(byte_mask(enables)) == enables


def test_the_sub_banks_written_are_those_of_the_mask() -> None:
    random.seed(3)
    for _ in range(2000):
        old = Encoding(random.randint(1, 4), random.getrandbits(1), random.random() < 0.5)
        lanes, full = random.getrandbits(32) | 1, random.random() < 0.5
        word = random.getrandbits(1024) & broadcast((1 << 8 * random.randint(1, 4)) - 1)
        write = renew(old, word, lanes, full, side=random.random() < 0.5)
        enables = byte_enables(to_sub_banks(write.byte_mask, write.encoding.left))
        assert sum(1 << k for k in range(4) if enables >> 32 * k & ALL_LANES) == write.encoding.mask


def test_an_access_touches_only_its_bytes() -> None:
    random.seed(4)
    bank, data, mask = DualBank(16), random.getrandbits(1024), byte_mask(random.getrandbits(128))
    bank.write(5, data, (1 << 1024) - 1)
    bank.write(5, ~data & (1 << 1024) - 1, mask)
    assert bank.read(5) == data ^ mask
    assert bank.read(4) == bank.read(6) == 0
