"""AES-128, block by block: look-ups by data in a table in shared memory, keys in constant memory, bitwise logic."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import text

SUITE = {"AFFINE": "aes"}


def inputs(size: str) -> Inputs:
    """A text, and a key."""
    blocks = {"tiny": 32, "default": 1600, "large": 160_000}[size]
    key = np.random.default_rng(128).integers(0, 256, 16).astype(np.uint8)
    return {"plain": text(16 * blocks, 1).reshape(blocks, 4, 4), "key": key.reshape(4, 4)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The tables are made here; then one launch."""
    module = gpu.module(Path(__file__).with_name("aes.ptx"))
    box = sbox()
    module.set("mixed", np.stack([times_two(box), box, box, times_two(box) ^ box], axis=1))
    module.set("round_keys", round_keys(given["key"]))
    cipher = gpu.zeros(given["plain"].shape, "u1")
    module["aes"][given["plain"].size // 512, 128](gpu.array(given["plain"]), cipher)
    return {"cipher": cipher.numpy()}


def reference(given: Inputs) -> Outputs:
    """Byte by byte: substitution, rows shifted, columns mixed, key added. State: (block, column, row)."""
    box, keys = sbox(), round_keys(given["key"]).reshape(11, 4, 4)
    state = given["plain"] ^ keys[0]
    for key in keys[1:10]:
        state = _mixed(_shifted(box[state])) ^ key
    return {"cipher": _shifted(box[state]) ^ keys[10]}


def times_two(values: np.ndarray) -> np.ndarray:
    """In the field of 256 elements modulo x^8 + x^4 + x^3 + x + 1."""
    return (values << 1 ^ np.where(values & 0x80, 0x1B, 0)).astype(np.uint8)


def sbox() -> np.ndarray:
    """Inverse in the field, then an affine map of the bits."""
    powers = np.ones(256, np.uint8)
    for i in range(1, 256):
        powers[i] = times_two(powers[i - 1]) ^ powers[i - 1]
    inverse = np.zeros(256, np.uint8)
    inverse[powers[:255]] = powers[255 - np.arange(255)]
    mapped = inverse.copy()
    for shift in range(1, 5):
        mapped ^= inverse << shift | inverse >> 8 - shift
    return mapped ^ np.uint8(0x63)


def round_keys(key: np.ndarray) -> np.ndarray:
    """The 44 words (rows of 4 bytes) of a key of four words."""
    box, words, constant = sbox(), list(key), np.array([1, 0, 0, 0], np.uint8)
    while len(words) < 44:
        word = words[-1]
        if len(words) % 4 == 0:
            word = box[np.roll(word, -1)] ^ constant
            constant = times_two(constant)
        words.append(words[-4] ^ word)
    return np.array(words)


def _shifted(state: np.ndarray) -> np.ndarray:
    return np.stack([np.roll(state[:, :, row], -row, axis=1) for row in range(4)], axis=2)


def _mixed(state: np.ndarray) -> np.ndarray:
    after = np.roll(state, -1, axis=2)
    others = state ^ np.bitwise_xor.reduce(state, axis=2, keepdims=True)
    return times_two(state ^ after) ^ others
