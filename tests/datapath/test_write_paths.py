"""Write paths as in the list of pipes, in the golden model, with several register files and collectors."""

import pytest
from support.golden_traces import random_trace

from warploom.arch.config import SmConfig
from warploom.golden_model.sm import Sm
from warploom.tb import write_paths

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
