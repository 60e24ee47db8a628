"""Traces that are made as they are used (`Stream`): the same runs, in little memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.compiler.compile import compile_file
from warploom.golden_model.functional import executor
from warploom.golden_model.functional.executor import Stream, execute
from warploom.golden_model.simulate import simulate
from warploom.kernels.library import kernel

MEBIBYTE = 1 << 10
"""In the unit of `ru_maxrss`."""

MEASURE = """
import resource, sys
from pathlib import Path
from warploom.arch.config import SmConfig
from warploom.compiler.compile import compile_file
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.simulate import simulate
from warploom.kernels.launchfile import load
file = load(Path(sys.argv[1]))
run = simulate(SmConfig.preset("narrow"), Stream(compile_file(file.ptx), file.launch))
print(run.statistics.warp_instructions, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("name", ["bfs", "reduction"])
def test_a_stream_is_the_whole_trace_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "RESIDENT_WARPS", 4)  # so that there are several parts
    file, config = kernel(name).load("tiny"), SmConfig.preset("small")
    program = compile_file(file.ptx)
    trace, parts = execute(program, file.launch).trace, list(Stream(program, file.launch).parts())
    assert trace is not None and len(parts) > 1
    warps = [(part, warp) for part in parts for warp in part.warps]
    for whole, (part, warp) in zip(trace.warps, warps, strict=True):
        assert (whole.block, whole.warp, whole.live) == (warp.block, warp.warp, warp.live)
        for column in ("pc", "lanes", "pred_in", "pred_out"):
            assert np.array_equal(getattr(whole, column), getattr(warp, column))
        written, used = whole.result[whole.result >= 0], whole.address[whole.address >= 0]
        assert np.array_equal(trace.results[written], part.results[warp.result[warp.result >= 0]])
        assert np.array_equal(trace.addresses[used], part.addresses[warp.address[warp.address >= 0]])
        assert np.array_equal(trace.spaces[used], part.spaces[warp.address[warp.address >= 0]])
    assert simulate(config, Stream(program, file.launch)).statistics == simulate(config, trace).statistics


def measured(folder: Path, blocks: int) -> tuple[int, int]:
    """Warp instructions of a vector addition of this many blocks, and the memory that their simulation takes at most,
    in KiB."""
    ptx = kernel("vector_add").ptx
    text = ptx.with_name("default.toml").read_text()
    path = folder / f"{blocks}.toml"
    path.write_text(text.replace('ptx = "', f'ptx = "{ptx.parent}/')
                    .replace("736", str(blocks)).replace("188400", str(256 * blocks - 16)))
    output = subprocess.run([sys.executable, "-c", MEASURE, path], check=True, capture_output=True, text=True).stdout
    instructions, memory = map(int, output.split())
    return instructions, memory


@pytest.mark.long
def test_a_long_run_takes_little_memory(tmp_path: Path) -> None:
    """Memory grows with the buffers of the launch, 12 bytes for each thread, twice while they are made, and not with
    the instructions: those of two million would take 400 MB."""
    (few, before), (many, after) = (measured(tmp_path, blocks) for blocks in (1 << 9, 1 << 13))
    assert many > 15 * few > 1_000_000
    assert after < 400 * MEBIBYTE
    assert after - before < 150 * MEBIBYTE
