"""Viterbi decoding, a frame a warp: butterflies through shared memory, branches of the code from a table, votes."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"AFFINE": "viterbi"}

GENERATORS = (0o171, 0o133)
"""The taps of the two symbols on the bit and the six before it."""


def inputs(size: str) -> Inputs:
    """Encoded messages that end in six zeros, with noise."""
    frames, steps = {"tiny": (2, 20), "default": (12, 180), "large": (160, 900)}[size]
    random = np.random.default_rng(1967)
    bits = random.integers(0, 2, (frames, steps))
    bits[:, -6:] = 0
    history = np.zeros(frames, np.int64)
    symbols = np.zeros((frames, steps, 2))
    for step, bit in enumerate(bits.T):
        symbols[:, step] = 255 * _symbols(history, bit)
        history = (history << 1 | bit) & 63
    symbols = np.clip(symbols + random.normal(0, 60, symbols.shape), 0, 255)
    return {"symbols": symbols.astype(np.uint8), "bits": bits.astype(np.uint8)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch; the way back through the decisions is the host's."""
    viterbi = gpu.module(Path(__file__).with_name("viterbi.ptx"))["viterbi"]
    frames, steps, _ = given["symbols"].shape
    together = min(frames, 4)
    expected = _symbols(np.arange(32), np.zeros(32, int)) @ [1, 2]
    decisions = gpu.zeros((frames, steps, 2), "u4")
    viterbi[frames // together, (32, together)](
        gpu.array(given["symbols"]), gpu.array(expected.astype(np.uint8)), decisions, steps)
    return {"decisions": decisions.numpy(), "bits": _bits(decisions.numpy())}


def reference(given: Inputs) -> Outputs:
    """Every state looks at its two predecessors, the lower first."""
    symbols = given["symbols"].astype(np.int64)
    frames, steps, _ = symbols.shape
    states = np.arange(64)
    ways = np.stack([states >> 1, states >> 1 | 32])
    expected = 255 * _symbols(ways, states & 1)
    costs = np.where(states == 0, 0, 10000) + np.zeros((frames, 1), int)
    chosen = []
    for step in range(steps):
        arriving = costs[:, ways] + abs(expected - symbols[:, step, None, None]).sum(axis=3)
        chosen.append(arriving.argmin(axis=1))
        costs = arriving.min(axis=1)
    decisions = np.stack(chosen, axis=1).reshape(frames, steps, 32, 2).transpose(0, 1, 3, 2)
    words = np.packbits(decisions.astype(np.uint8), axis=3, bitorder="little").view(np.uint32)[..., 0]
    return {"decisions": words, "bits": given["bits"]}


def _bits(decisions: np.ndarray) -> np.ndarray:
    """The way back from state 0, in which every frame ends."""
    frames, steps, _ = decisions.shape
    state, bits = np.zeros(frames, np.int64), np.zeros((frames, steps), np.uint8)
    for step in range(steps - 1, -1, -1):
        bits[:, step] = state & 1
        high = decisions[np.arange(frames), step, state & 1] >> (state >> 1) & 1
        state = state >> 1 | high.astype(np.int64) << 5
    return bits


def _symbols(history: np.ndarray, bit: np.ndarray) -> np.ndarray:
    """The two symbols (0 or 1, in a last axis) for a bit after six others."""
    window = history << 1 | bit
    return np.stack([np.bitwise_count(window & taps) & 1 for taps in GENERATORS], axis=-1)
