"""Write paths as in the list of pipes, in the golden model, with several register files and collectors."""

import random

import pytest
from support.gated_runs import add
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.tb import write_paths
from warploom.tb.pipes import PATH_EACH, PORTS, TWO_SP

MECHANISMS = (
    [], ["coalescing=on", "alignment=write"], ["coalescing=on", "alignment=ideal"], ["gating=active"],
    ["bypass=bow"], ["bypass=bow_hints", "coalescing=on"], ["coalescing=corf_plus", "layout=wid"],
)
PATHS = {"as in the presets": [], **write_paths.OTHERS}


def written_together(config: SmConfig, seed: int) -> set[frozenset[str]]:
    """The pipes that write in one cycle, of all cycles of a random program whose operands and results are checked."""
    sm, found = Sm(config, random_trace(seed, warps=8, length=150), check=True), set()
    sm.step()
    while not sm.finished:
        found.add(frozenset(write.writer for write in sm.datapath.writes()))
        assert sm.cycle < 100_000
        sm.step()
    return found


@pytest.mark.sample(10)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=" ".join)
@pytest.mark.parametrize("paths", PATHS)
def test_a_path_carries_one_word(paths: str, mechanism: list[str]) -> None:
    config = SmConfig.preset("small").with_settings([*mechanism, *PATHS[paths]])
    found = written_together(config, 3)
    for path in config.write_paths:
        writers = {config.writers[writer] for writer in path}
        assert max(len(together & writers) for together in found) <= 1
    assert any(found)


def test_paths_of_their_own_let_sp_and_sfu_write_together() -> None:
    shared, apart = (SmConfig.preset("narrow").with_settings(paths) for paths in ([], write_paths.SP_ALONE))
    assert not any({"sp", "sfu"} <= together for together in written_together(shared, 5))
    assert any({"sp", "sfu"} <= together for together in written_together(apart, 5))


def refused(config: SmConfig, trace: Trace) -> tuple[int, int]:
    """How often the first latch of a path that takes turns is refused, and how often because it waits for the result
    port of a collector; never in its turn, which is asserted."""
    sm, refused, waiting = Sm(config, trace), 0, 0
    sm.step()
    while not sm.finished:
        file, ready = sm.datapath.register_file, sm.datapath.ready
        turn = dict(zip(file.arbiter.observed, file.arbiter.observe(), strict=True))["first_path"]
        assert ready[config.write_paths[turn][0]], sm.cycle
        others = [path[0] for path in config.write_paths[: config.rotating_paths] if not ready[path[0]]]
        refused += len(others)
        waiting += sum(file.writeback.held_back >> writer & 1 for writer in others)
        sm.step()
    return refused, waiting


@pytest.mark.parametrize("mechanism", [[], ["coalescing=on"]], ids=" ".join)
@pytest.mark.parametrize("paths", [TWO_SP, PATH_EACH], ids=["two paths", "three paths"])
def test_the_first_latch_of_a_path_is_granted_in_its_turn(paths: tuple[str, ...], mechanism: list[str]) -> None:
    config = SmConfig.preset("small").with_settings([*mechanism, *paths, *PORTS["one each"]])
    assert refused(config, random_trace(7, warps=8, length=150))[0]


def test_the_first_latch_of_a_path_delivers_in_its_turn() -> None:
    """In a long window results of SFU and SP come to one collector in one cycle."""
    settings = [*PATH_EACH, *PORTS["one each"], "issue_ports=2", "bypass=bow", "window=8", "entries=32"]
    rng = random.Random(7)
    code = [Instruction(op=Op.MUFU, dst=1 + k % 4, src=(0, RZ, RZ)) if rng.random() < 0.15 else add(6 + k % 10, 0)
            for k in range(300)]
    assert refused(SmConfig.preset("small").with_settings(settings), trace_of(code, warps=4))[1]
