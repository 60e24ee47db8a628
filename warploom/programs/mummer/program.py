"""DNA reads matched by a suffix tree, as MummerGPU does: pointers chased through nodes, strings behind pointers."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"BOW": "MUM"}

NODE = np.dtype([("children", "<i4", 4), ("first", "<i4"), ("last", "<i4")])


def inputs(size: str) -> Inputs:
    """A genome with repeated pieces; reads from it with errors, their lengths."""
    bases, count, longest = {"tiny": (60, 20, 7), "default": (4000, 160, 25), "large": (100_000, 3000, 50)}[size]
    random = np.random.default_rng(4)
    genome = random.integers(0, 4, bases).astype(np.uint8)
    genome[bases // 2 : bases // 2 + bases // 8] = genome[: bases // 8]
    starts = random.integers(0, bases - longest, count)
    reads = genome[starts[:, None] + np.arange(longest)]
    errors = random.random(reads.shape) < 0.05
    lengths = random.integers(longest * 3 // 4, longest + 1, count)
    return {"genome": genome, "reads": np.where(errors, 3 - reads, reads).astype(np.uint8),
            "lengths": lengths.astype(np.int32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The tree is built here; then one launch, with a table of pointers to the reads."""
    match_reads = gpu.module(Path(__file__).with_name("mummer.ptx"))["match_reads"]
    reads, (count, pitch) = gpu.array(given["reads"]), given["reads"].shape
    pointers = np.array([reads.at(i, 0) for i in range(count)], np.uint64)
    matches = gpu.zeros((count, pitch, 2), "i4")
    match_reads[-(-count // 32), 32](
        gpu.array(suffix_tree(given["genome"])), gpu.array(given["genome"]), gpu.array(pointers),
        gpu.array(given["lengths"]), count, pitch, matches)
    return {"matches": matches.numpy()}


def reference(given: Inputs) -> Outputs:
    """Length and first position in the genome of ever longer pieces, while they occur."""
    genome = given["genome"].tobytes()
    matches = np.zeros((*given["reads"].shape, 2), np.int32)
    for row, read, length in zip(matches, given["reads"], given["lengths"], strict=True):
        letters = read[:length].tobytes()
        for start in range(length):
            end = position = start
            while end < length and (found := genome.find(letters[start : end + 1])) >= 0:
                end, position = end + 1, found
            row[start] = (end - start, position if end > start else 0)
    return {"matches": matches}


def suffix_tree(genome: np.ndarray) -> np.ndarray:
    """The nodes, the root first: suffixes are put in from the longest on, each along what is there already."""
    text = genome.tolist()
    children, first, last = [[0] * 4], [0], [0]

    def add(begin: int, end: int, below: list[int]) -> int:
        children.append(below)
        first.append(begin)
        last.append(end)
        return len(first) - 1

    for start in range(len(text)):
        node, at = 0, start
        while at < len(text):
            parent, node = node, children[node][text[at]]
            if not node:
                children[parent][text[at]] = add(at, len(text), [0] * 4)
                break
            edge = first[node]
            while edge < last[node] and at < len(text) and text[edge] == text[at]:
                edge, at = edge + 1, at + 1
            if edge < last[node] and at < len(text):
                upper = [0] * 4
                upper[text[edge]] = node
                node, begin = add(first[node], edge, upper), first[node]
                children[parent][text[begin]] = node
                first[upper[text[edge]]] = edge
    tree = np.zeros(len(first), NODE)
    tree["children"], tree["first"], tree["last"] = children, first, last
    return tree
