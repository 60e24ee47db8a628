"""The register file cache: reads and writes, replacement, dead values, and that no value is lost."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Instruction, Op
from warploom.arch.mechanisms.baseline import PATH_EACH
from warploom.arch.modifiers import Access, Space
from warploom.compiler.compile import compile_file
from warploom.golden_model.cached.cache import Eviction, RegisterFileCache
from warploom.golden_model.cached.last_use import last_uses
from warploom.golden_model.cached.register_file import CachedFile
from warploom.golden_model.check import Mismatch
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.placement import Address
from warploom.golden_model.register_file.ports import Read
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.golden_model.trace import Trace
from warploom.golden_model.words import ALL_LANES, broadcast, merge
from warploom.kernels.library import kernel, kernels
from warploom.tb import write_paths

PASCAL = SmConfig.preset("pascal").with_settings(["bypass=rfc", "entries=6"])
SMALL = SmConfig.preset("small").with_settings(["bypass=rfc", "entries=6"])
HALF = 0xFFFF


def move(register: int, value: int = 1) -> Instruction:
    return Instruction(op=Op.MOV, dst=register, imm_slot=0, imm=value)


def read(*registers: int, guard: int = 7) -> Instruction:
    """Reads up to three registers and writes none."""
    return Instruction(op=Op.ISETP, pdst=1, src=(*registers, *[255] * (3 - len(registers))), guard=guard)  # type: ignore[arg-type]


def counts(config: SmConfig, code: Sequence[Instruction], lanes: Sequence[int] | None = None) -> dict[str, int]:
    """One warp, with `check`: reads and writes of register file and cache."""
    run = simulate(config, trace_of(code, lanes=lanes), check=True)
    found = run.statistics
    return {"reads": sum(found.bank_reads), "writes": sum(found.bank_writes), **found.counted["bypassed"]}


# ---------------------------------------------------------------------- hits, misses, replacement


def test_results_are_read_from_the_cache() -> None:
    found = counts(SMALL, [move(2), move(3), read(2, 3), read(3, 2)])
    assert found == {"reads": 0, "writes": 0, "cache_reads": 4, "cache_writes": 2, "split_operands": 0}


def test_a_read_that_misses_allocates_nothing() -> None:
    assert counts(SMALL, [read(2), read(2), read(2)])["reads"] == 3


@pytest.mark.parametrize(("later", "writes", "reads"), [(5, 0, 0), (6, 1, 1), (7, 2, 1)])
def test_the_register_that_came_first_makes_room(later: int, writes: int, reads: int) -> None:
    """Six entries: R0 is evicted when a sixth other register comes, R1 with the seventh, although R0 was read and
    written again in between. All are read at the end."""
    others = list(range(1, 1 + later))
    code = [move(0), read(0), move(0, 5), *map(move, others), read(0), *(read(other) for other in others[1:])]
    code += [read(0), read(1)]
    found = counts(SMALL, code)
    assert (found["writes"], found["reads"] > 0) == (writes, reads > 0)
    assert found["reads"] + found["cache_reads"] == 1 + 1 + (later - 1) + 2


def test_a_value_that_was_read_for_the_last_time_is_not_written() -> None:
    """R6 takes the entry of R0, and R7 that of R1, which is read after R7 has been written."""
    others = [move(register) for register in range(1, 8)]
    alive = [read(register) for register in range(7, 0, -1)]
    assert counts(SMALL, [move(0), read(0), *others, *alive])["writes"] == 1
    assert counts(SMALL, [move(0), *others, *alive, read(0)])["writes"] == 2


def test_a_last_read_is_one_of_its_executing_lanes() -> None:
    """Half of the lanes read R0 for the last time; the others are written when R6 takes its entry."""
    code = [move(0), read(0, guard=0), *(move(register) for register in range(1, 7)), read(6)]
    assert counts(SMALL, code, [ALL_LANES, HALF, *[ALL_LANES] * 7])["writes"] == 1
    assert counts(SMALL, code)["writes"] == 0


def test_a_value_that_is_overwritten_in_the_cache_is_never_written() -> None:
    found = counts(SMALL, [move(0, value) for value in range(10)] + [read(0)])
    assert (found["writes"], found["cache_writes"]) == (0, 10)


def test_warps_do_not_share_entries() -> None:
    trace = trace_of([*(move(register) for register in range(6)), *(read(register) for register in range(6))], warps=8)
    run = simulate(SMALL, trace, check=True)
    assert sum(run.statistics.bank_reads) + sum(run.statistics.bank_writes) == 0


# ---------------------------------------------------------------------- parts


def test_lanes_come_from_both() -> None:
    """R0 is evicted whole, then written in half of its lanes: reading all of it takes two reads. When that half is
    evicted too, the register file has all of it. The others are also evicted and written: a register that is never read
    has no last read."""
    code = [move(0, 3), *(move(register) for register in range(1, 7)), replace(move(0, 4), guard=0), read(0)]
    more = [*(move(register) for register in range(7, 13)), read(12), read(0)]
    lanes = [ALL_LANES] * 7 + [HALF] + [ALL_LANES] * (1 + len(more))
    found = counts(SMALL, [*code, *more], lanes)
    assert (found["split_operands"], found["reads"], found["cache_reads"], found["writes"]) == (1, 2, 2, 8)


def test_an_operand_is_split_only_if_the_cache_lacks_lanes_of_it() -> None:
    fill = [move(register) for register in range(1, 7)]
    code = [move(0, 3), *fill, replace(move(0, 4), guard=0), read(0, guard=0), read(0)]
    lanes = [ALL_LANES] * 7 + [HALF, HALF, ALL_LANES]
    assert counts(SMALL, code, lanes)["split_operands"] == 1


def test_a_split_operand_is_two_collector_writes_and_fills_its_slot_once() -> None:
    """R0 is evicted, then written in half of its lanes, and read. Each of the nine instructions fills three slots of 32
    columns, with the operand or with constants."""
    code = [move(0, 3), *(move(register) for register in range(1, 7)), replace(move(0, 4), guard=0), read(0)]
    found = simulate(SMALL, trace_of(code, lanes=[*[ALL_LANES] * 7, HALF, ALL_LANES]), check=True).statistics
    assert (sum(found.bank_reads), found.counted["bypassed"]["cache_reads"], found.operands) == (1, 1, [8, 1, 0, 0])
    assert (found.collector_writes, found.operands_stored, found.slice_writes) == (2, 2, 8)
    assert found.collector_columns == 9 * 3 * 32


def test_the_cache_alone() -> None:
    cache = RegisterFileCache(SmConfig.preset("small").with_settings(["entries=4"]))
    addresses = [Address(0, row, False) for row in range(8)]
    for address in addresses[:4]:
        assert cache.write(0, address, broadcast(7), ALL_LANES) is None
    assert cache.target(0, addresses[4]) is cache.find(addresses[0])
    assert cache.target(0, addresses[3]) is cache.find(addresses[3])
    cache.write(0, addresses[0], broadcast(9), HALF)
    cache.read_last(addresses[0], 0xFF)
    word = merge(broadcast(7), broadcast(9), HALF)
    assert cache.write(0, addresses[4], 0, 1) == Eviction(addresses[0], word, 0xFFFFFF00)
    cache.read_last(addresses[1], ALL_LANES)
    assert cache.write(0, addresses[5], 0, 1) is None
    cache.read_last(addresses[2], ALL_LANES)
    cache.pending[addresses[2]] += 1  # an instruction that issued before still has to read it
    assert cache.write(0, addresses[6], 0, 1) == Eviction(addresses[2], broadcast(7), ALL_LANES)
    cache.read_last(addresses[3], ALL_LANES)
    cache.write(0, addresses[3], broadcast(5), 1)  # lives again in one lane
    evicted = cache.write(0, addresses[7], 0, 1)
    assert evicted is not None and evicted.lanes == 1


def test_banks_of_the_entries() -> None:
    """Six entries for each warp, allocated one after the other, in 32 banks."""
    cache = RegisterFileCache(PASCAL)
    banks: dict[int, list[int]] = {warp: [] for warp in (0, 1, 5)}
    for warp, found in banks.items():
        for row in range(6):
            address = Address(0, 6 * warp + row, False)
            found.append(cache.target(warp, address).bank)
            cache.write(warp, address, 0, 1)
    assert banks == {0: [0, 1, 2, 3, 4, 5], 1: [6, 7, 8, 9, 10, 11], 5: [30, 31, 0, 1, 2, 3]}


# ---------------------------------------------------------------------- time


@pytest.mark.parametrize("sources", [(), (2,), (2, 3), (2, 3, 4)])
def test_the_port_of_a_collector_stays_what_it_is(sources: tuple[int, ...]) -> None:
    """Operands of the cache arrive one a cycle, two cycles after their grant, like those of the register file."""
    producers = [move(register) for register in (2, 3, 4)]
    chain = [Instruction(op=Op.LOP3, dst=5, src=(*sources, *[255] * (3 - len(sources)))), read(5)]  # type: ignore[arg-type]
    trace = trace_of([*producers, *chain])
    baseline = SMALL.with_settings(["bypass=off"])
    assert simulate(SMALL, trace, check=True).statistics.cycles == simulate(baseline, trace).statistics.cycles


def test_sp_is_never_refused_however_much_is_evicted() -> None:
    """All registers in one bank, and every result evicts."""
    config = SMALL.with_settings(["banks=1", "rows=512", "entries=4"])
    code = [move(register) for _ in range(3) for register in range(12)] + [read(register) for register in range(12)]
    for register in range(0, 12, 3):
        code.insert(5 * register, Instruction(op=Op.LD, dst=register, src=(255, 255, 255), space=Space.GLOBAL,
                                              access=Access.B32))
    run = simulate(config, trace_of(code, warps=8), check=True)
    assert sum(run.statistics.bank_writes) > 100


def evicting(*evictions: Eviction | None) -> CachedFile:
    """A register file with these evictions in the registers of its paths."""
    register_file = CachedFile(SMALL)
    register_file._evictions = list(evictions)
    register_file.arbitrate()
    return register_file


def cycle(register_file: CachedFile) -> None:
    """A cycle ends without results, and the next one settles."""
    register_file.write((None, None, None))
    register_file.arbitrate()


def test_of_two_evictions_for_one_bank_that_of_memory_waits_and_its_latch_too() -> None:
    first, second = (Eviction(Address(0, row, False), broadcast(row), HALF) for row in (3, 4))
    register_file = evicting(first, second)
    load = {"tag": 1, "writes": 1, **Address(1, 2, False)._asdict(), "lanes": ALL_LANES, "data": 5, "pred": 0}
    register_file._warps[Address(1, 2, False)] = 0
    assert [(write.row, write.lanes) for write in register_file.writes()] == [(3, HALF)]
    register_file.write((None, None, load))
    register_file._evictions[0] = first
    register_file.arbitrate()
    assert register_file.done[2] is None and not register_file.ready[2]
    cycle(register_file)
    assert [write.row for write in register_file.writes()] == [4] and register_file.done[2] is load
    assert not register_file.quiet
    cycle(register_file)
    assert register_file.quiet and register_file.bank_writes[0] == 3
    assert register_file.banks[0].data[4] == merge(0, broadcast(4), HALF)


def test_a_register_file_with_an_eviction_is_not_quiet() -> None:
    register_file = evicting(None, Eviction(Address(0, 3, False), 0, 1))
    assert not register_file.quiet
    cycle(register_file)
    assert register_file.quiet


def test_an_eviction_that_waits_does_not_write_what_is_newer() -> None:
    address = Address(0, 4, False)
    register_file = evicting(Eviction(Address(0, 3, False), 0, 1), Eviction(address, broadcast(4), ALL_LANES))
    register_file._warps[address] = 0
    result = {"tag": 1, "writes": 1, **address._asdict(), "lanes": HALF, "data": broadcast(9), "pred": 0}
    register_file.write((result, None, None))
    register_file._evictions[0] = Eviction(Address(0, 3, False), 0, 1)  # another one, so that it waits on
    register_file.arbitrate()
    cycle(register_file)
    assert [write.lanes for write in register_file.writes()] == [ALL_LANES & ~HALF]


def asked(register_file: CachedFile, client: int, *banks: int) -> None:
    """A collector requests a register in each of these banks of the register file, all lanes."""
    register_file.request(client, {(bank, slot): Read(slot, Address(bank, 9, False), (ALL_LANES, ALL_LANES), ALL_LANES)
                                   for slot, bank in enumerate(banks)})


def test_conflicts_of_reads_with_an_eviction_and_with_each_other() -> None:
    """While an eviction is written to bank 0, two collectors wait for it, of which the first one gets bank 1. Then the
    second one, whose diagonal has priority, gets bank 0, and at last the first one, which also wants bank 1 again."""
    register_file = evicting(Eviction(Address(0, 3, False), 0, HALF), None)
    seen = []
    asked(register_file, 1, 0)
    for asks in ((0, 1), (0,), (0, 1)):
        asked(register_file, 0, *asks)
        register_file.arbitrate()
        register_file.grants()
        seen.append((register_file.decision.reads, register_file.bank_conflicts, register_file.port_conflicts))
        register_file.write((None, None, None))
        register_file.arbiter.advance()
    assert seen == [(((1, 0),), 2, 0), (((0, 1),), 3, 0), (((0, 0),), 3, 1)]
    assert register_file.bank_reads[:2] == [2, 1] and register_file.bank_writes[0] == 1


def test_the_priority_goes_round_the_banks_of_both() -> None:
    """Those of the register file and of the cache, 32 each, with as many collectors."""
    arbiter = CachedFile(PASCAL).arbiter
    arbiter.advance(63)
    assert arbiter.diagonal == 63
    arbiter.advance()
    assert arbiter.diagonal == 0


def test_the_lowest_slot_of_a_bank_goes_first() -> None:
    register_file = CachedFile(SMALL)
    register_file.request(0, {(0, slot): Read(slot, Address(0, 9 - slot, False), (ALL_LANES, ALL_LANES), ALL_LANES)
                              for slot in range(3)})
    granted = []
    for _ in range(3):
        register_file.arbitrate()
        granted += [read.key for _, read, _ in register_file.grants()]
        register_file.write((None, None, None))
    assert granted == [0, 1, 2]


# ---------------------------------------------------------------------- static liveness


def test_last_uses_on_all_paths() -> None:
    code = [
        move(0), move(1), move(2),
        Instruction(op=Op.IADD, dst=3, src=(0, 1, 255)),  # R0 is read again in the loop, R1 is not
        Instruction(op=Op.IADD, dst=3, src=(0, 3, 255)),  # R3 is overwritten here
        Instruction(op=Op.BRA, imm=4, guard=0),
        Instruction(op=Op.IADD, dst=2, src=(2, 3, 255), guard=1),  # R2 is still live in lanes whose guard does not hold
        Instruction(op=Op.IADD, dst=4, src=(2, 2, 255)),
        Instruction(op=Op.EXIT),
    ]
    assert last_uses(code) == [0, 0, 0, 0b010, 0b010, 0, 0b010, 0b011, 0]


def test_an_immediate_is_no_last_use() -> None:
    code = [Instruction(op=Op.IADD, dst=1, src=(0, 0, 255), imm_slot=1), Instruction(op=Op.EXIT)]
    assert last_uses(code) == [0b001, 0]


# ---------------------------------------------------------------------- whole programs


def guarded(trace: Trace) -> Trace:
    """The trace with a guard on all instructions that a warp executes only in some lanes, which the liveness of a
    thread requires."""
    lanes = trace.warps[0].lanes.tolist()
    code = [replace(i, guard=0) if mask != ALL_LANES else i
            for i, mask in zip(trace.program.instructions, lanes, strict=True)]
    return replace(trace, program=replace(trace.program, instructions=tuple(code)))


@pytest.mark.sample(3)
@pytest.mark.parametrize("settings", [
    [], ["entries=4"], ["banks=1", "rows=512", "entries=4"], ["collectors=16"],
    ["entries=4", *write_paths.ONE_EACH], ["entries=4", *write_paths.ONE_FOR_ALL], ["entries=4", *PATH_EACH],
])
def test_operands_are_those_of_the_trace(settings: list[str]) -> None:
    """Random programs, many instructions partly masked; skipping quiet cycles changes nothing."""
    seen: Counter[str] = Counter()
    for seed in range(6):
        trace, config = guarded(random_trace(seed)), SMALL.with_settings(settings)
        run = simulate(config, trace, check=True)
        assert run.sm.checker is not None and run.sm.checker.checked > 3 * run.statistics.datapath_instructions
        seen += Counter(run.statistics.counted["bypassed"]) + Counter(writes=sum(run.statistics.bank_writes))
        sm = Sm(config, trace)
        while not sm.finished:
            sm.step()
        assert collect(sm) == run.statistics
    assert min(seen[name] for name in ("cache_reads", "cache_writes", "split_operands", "writes")) > 50


@pytest.mark.parametrize("method", ["_replace", "read_last"])
def test_the_checker_sees_a_lost_value(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No evicted value is written; or live values count as dead."""
    original = RegisterFileCache._replace

    def forgets(self: RegisterFileCache, entry: object, address: Address) -> None:
        original(self, entry, address)  # type: ignore[arg-type]

    def kills(self: RegisterFileCache, address: Address, lanes: int) -> None:
        for entry in self._found.values():
            entry.dead = entry.held

    monkeypatch.setattr(RegisterFileCache, method, forgets if method == "_replace" else kills)
    with pytest.raises(Mismatch, match="operand"):
        for seed in range(6):
            simulate(SMALL, guarded(random_trace(seed)), check=True)


@pytest.mark.parametrize("config", [PASCAL, SMALL.with_settings(["entries=4", "scheduler=two_level"])],
                         ids=["pascal", "small"])
@pytest.mark.parametrize("name", [
    pytest.param(k.name, marks=[] if k.name in ("bfs", "hotspot", "matmul") else pytest.mark.long) for k in kernels()
])
def test_bundled_kernels(name: str, config: SmConfig) -> None:
    """Every operand equals that of the trace; the cache serves the accesses that the register file saves."""
    file = kernel(name).load("tiny")
    trace = execute(compile_file(file.ptx), file.launch).trace
    run, before = simulate(config, trace, check=True), simulate(config.with_settings(["bypass=off"]), trace).statistics
    found = run.statistics
    assert isinstance(run.sm.datapath.register_file, CachedFile)
    assert run.sm.checker is not None and run.sm.checker.checked > 100
    counts = found.counted["bypassed"]
    assert counts["cache_writes"] == sum(before.bank_writes)
    served = sum(found.bank_reads) + counts["cache_reads"] - counts["split_operands"]
    assert served == sum(before.bank_reads)
    assert sum(found.bank_reads) < sum(before.bank_reads) and sum(found.bank_writes) < sum(before.bank_writes)


def test_there_is_no_hardware() -> None:
    with pytest.raises(ConfigError, match="a comparator of the golden model, without hardware"):
        PASCAL.check_hardware()
