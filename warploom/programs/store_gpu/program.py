"""MD5 of every window of a stream: a thousand integer instructions between one load and one store."""

import hashlib
from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import text

SUITE = {"BOW": "STO", "TFET": "storeGPU"}

WINDOW, THREADS = 48, 64


def inputs(size: str) -> Inputs:
    """A text, of whole blocks of windows."""
    windows = {"tiny": 64, "default": 4864, "large": 486_400}[size]
    return {"data": text(windows + WINDOW, 9), "windows": windows}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    module = gpu.module(Path(__file__).with_name("store_gpu.ptx"))
    module.set("sines", np.floor(2.0**32 * abs(np.sin(np.arange(1, 65)))).astype(np.uint32))
    windows = given["windows"]
    digests = gpu.zeros((windows, 16), "u1")
    module["sliding_digests"][windows // THREADS, THREADS](gpu.array(given["data"]), digests, windows)
    return {"digests": digests.numpy()}


def reference(given: Inputs) -> Outputs:
    """Python's MD5."""
    data = given["data"].tobytes()
    digests = b"".join(hashlib.md5(data[i : i + WINDOW]).digest() for i in range(given["windows"]))
    return {"digests": np.frombuffer(digests, np.uint8).reshape(-1, 16)}
