"""The thirteen programs of the engine's source, as they run on an engine with one warp at a time.

Three need another launch than on an SM, because their blocks have barriers between warps: viterbi gets blocks of one
frame, and sgemm and rsort a kernel of their own. Inputs and references are those of the bundled programs.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from warploom.fg_simt.images import Started, launches
from warploom.host.gpu import Gpu
from warploom.programs.library import FOLDER, Inputs, program
from warploom.programs.viterbi.program import GENERATORS

NAMES = {
    "bfs": "bfs_levels", "bilateral": "bilateral", "bsearch": "bsearch", "cmult": "cmult", "conv": "conv",
    "dither": "dither", "kmeans": "kmeans", "mfilt": "mfilt", "rgb2cmyk": "rgb2cmyk", "rsort": "rsort",
    "sgemm": "sgemm", "strsearch": "strsearch", "viterbi": "viterbi",
}
"""The bundled program by the source's name."""

HERE = Path(__file__).parent
WARP, SHARE_THREADS, DIGITS, DIGIT_BITS = 32, 64, 8, 3
SYMBOL_BITS = np.array([1, 2], np.uint8)


def started(name: str, size: str = "tiny") -> list[Started]:
    """The launches of a program of `NAMES`."""
    bundled = program(NAMES[name])
    run = RUNS.get(name, bundled.run)
    return launches(lambda gpu: run(gpu, bundled.inputs(size)))


def _rsort(gpu: Gpu, given: Inputs) -> dict[str, np.ndarray]:
    """Blocks of two warps where warps do not wait for each other."""
    module = gpu.module(FOLDER / "rsort" / "rsort.ptx")
    positions = gpu.module(HERE / "rsort.ptx")["positions_from_counts"]
    n, share = len(given["keys"]), given["share"]
    blocks = -(-n // (share * SHARE_THREADS))
    keys, others = gpu.array(given["keys"]), gpu.zeros(n, "u4")
    counts, totals = gpu.zeros((DIGITS, blocks * SHARE_THREADS), "i4"), gpu.zeros(DIGITS, "i4")
    for shift in range(0, given["bits"], DIGIT_BITS):
        totals.set(0)
        module["count_digits"][blocks, SHARE_THREADS](keys, n, share, shift, counts, totals)
        positions[DIGITS, WARP](counts, totals, blocks * SHARE_THREADS)
        module["move_keys"][blocks, SHARE_THREADS](keys, others, n, share, shift, counts)
        keys, others = others, keys
    return {"keys": keys.numpy()}


def _sgemm(gpu: Gpu, given: Inputs) -> dict[str, np.ndarray]:
    sgemm = gpu.module(HERE / "sgemm.ptx")["sgemm"]
    (inner, rows), columns = given["a"].shape, given["b"].shape[1]
    c = gpu.array(given["c"], "c")
    sgemm[(rows // WARP, columns // 16), WARP](
        gpu.array(given["a"]), gpu.array(given["b"]), c, rows, columns, inner, given["alpha"], given["beta"])
    return {"c": c.numpy()}


def _viterbi(gpu: Gpu, given: Inputs) -> dict[str, np.ndarray]:
    bundled = program("viterbi")
    kernel = gpu.module(bundled.ptx)["viterbi"]
    frames, steps, _ = given["symbols"].shape
    window = np.arange(WARP) << 1
    expected = np.array([np.bitwise_count(window & taps) & 1 for taps in GENERATORS], np.uint8).T @ SYMBOL_BITS
    decisions = gpu.zeros((frames, steps, 2), "u4", "decisions")
    kernel[frames, (WARP, 1)](gpu.array(given["symbols"]), gpu.array(expected), decisions, steps)
    return {"decisions": decisions.numpy()}



RUNS: dict[str, Callable[[Gpu, Inputs], dict[str, np.ndarray]]] = {
    "rsort": _rsort, "sgemm": _sgemm, "viterbi": _viterbi,
}
"""The programs that run otherwise than on an SM."""
