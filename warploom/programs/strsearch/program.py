"""Words counted in texts by Knuth, Morris and Pratt: a byte a step from as many texts as threads, loops in loops."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import text

SUITE = {"AFFINE": "strsearch"}


def inputs(size: str) -> Inputs:
    """Texts of different lengths, and words from them, padded with zeros."""
    texts, length, words = {"tiny": (30, 15, 2), "default": (180, 50, 6), "large": (1800, 150, 10)}[size]
    random = np.random.default_rng(77)
    starts = np.cumsum([0, *random.integers(length // 2, 2 * length, texts)])
    letters = text(int(starts[-1]), 5)
    table = np.zeros((words, 8), np.uint8)
    lengths = random.integers(2, 5, words)
    for row, begin, end in zip(table, random.integers(0, len(letters) - 8, words), lengths, strict=True):
        row[:end] = letters[begin : begin + end]
    return {"letters": letters, "starts": starts.astype(np.int32), "words": table, "lengths": lengths.astype(np.int32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """A launch over the words, then one over the texts."""
    module = gpu.module(Path(__file__).with_name("strsearch.ptx"))
    letters, starts, words, lengths = (gpu.array(given[name]) for name in ("letters", "starts", "words", "lengths"))
    (count, pitch), texts = given["words"].shape, len(given["starts"]) - 1
    links = gpu.zeros((count, pitch), "i4")
    found = gpu.zeros((count, texts), "i4")
    module["prepare"][1, 32](words, lengths, links, pitch, count)
    module["search"][-(-texts // 64), 64](letters, starts, texts, words, lengths, links, pitch, count, found)
    return {"found": found.numpy()}


def reference(given: Inputs) -> Outputs:
    """Every place of every text compared."""
    letters = given["letters"].tobytes()
    texts = [letters[begin:end] for begin, end in zip(given["starts"], given["starts"][1:], strict=False)]
    words = [row.tobytes().rstrip(b"\0") for row in given["words"]]
    return {"found": np.array([[sum(text.startswith(word, i) for i in range(len(text))) for text in texts]
                               for word in words], np.int32)}
