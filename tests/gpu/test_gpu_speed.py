"""How long the GPU takes: 15 SMs of 10^5 warp instructions each. Prints what it measures (pytest -s)."""

import time

import numpy as np
import pytest

from warploom.host.gpu import Gpu
from warploom.kernels.library import kernel

MINUTES = 10
"""Of processor time, of one process."""


@pytest.mark.long
@pytest.mark.parametrize("name", ["matmul", "vector_add"])
def test_15_sms_of_100_000_warp_instructions_take_minutes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    gpu = Gpu(gpu="fermi")
    function = gpu.module(kernel(name).ptx)[name]
    start = time.process_time()
    if name == "matmul":  # 320 x 64 times 64 x 320
        a, b, c = (gpu.array(np.ones(count, np.float32)) for count in (320 * 64, 64 * 320, 320 * 320))
        run = function[(20, 20), (16, 16), 2048](a, b, c, 64, 320).gpu
    else:
        blocks = 9900
        x, y, z = (gpu.zeros(256 * blocks, np.float32) for _ in range(3))
        run = function[blocks, 256](x, y, z, 256 * blocks).gpu
    seconds = time.process_time() - start
    assert run is not None and run.summed.warp_instructions >= 15 * 10**5
    with capsys.disabled():
        s = run.statistics
        print(f"\n{name}: {run.summed.warp_instructions:,} warp instructions, {run.summed.cycles:,} cycles, "
              f"{s.bytes_per_second / 1e9:.1f} GB/s, {seconds:.0f} processor seconds")
    assert seconds < 60 * MINUTES
