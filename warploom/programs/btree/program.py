"""Point and range queries of a B+ tree: a block per query, all keys of a node compared at once, few lanes match."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"RADAIDEH": "b+tree", "BOW": "BTree"}

SIZES = {"tiny": (1500, 8), "default": (100_000, 200), "large": (1_000_000, 20_000)}
"""Records, and queries of each kind."""

ORDER = 64
LARGEST = np.iinfo(np.int32).max
NODE = np.dtype([("keys", np.int32, ORDER + 1), ("children", np.int32, ORDER)])


def inputs(size: str) -> Inputs:
    """Sorted keys with gaps, their records, and queries of which about half name a key that exists."""
    random, (count, queries) = np.random.default_rng(4), SIZES[size]
    keys = np.cumsum(random.integers(1, 4, count)).astype(np.int32)
    starts = random.integers(keys[0], keys[-1], queries).astype(np.int32)
    return {"keys": keys, "records": random.integers(0, 1 << 30, count).astype(np.int32),
            "queries": random.integers(keys[0], keys[-1], queries).astype(np.int32), "starts": starts,
            "ends": starts + random.integers(0, 1000, queries).astype(np.int32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The record of each query, and the first record and the number of records of each range."""
    module = gpu.module(Path(__file__).with_name("btree.ptx"))
    tree, levels = _tree(given["keys"])
    nodes = gpu.array(tree, "nodes")
    records, queries, starts, ends = (gpu.array(given[name], name) for name in ("records", "queries", "starts", "ends"))
    count = len(given["queries"])
    found, firsts, counts = (gpu.zeros(count, np.int32, name) for name in ("found", "firsts", "counts"))
    module["find"][count, ORDER](nodes, records, queries, found, levels)
    module["find_range"][count, ORDER](nodes, starts, ends, firsts, counts, levels)
    return {"found": found.numpy(), "firsts": firsts.numpy(), "counts": counts.numpy()}


def reference(given: Inputs) -> Outputs:
    """Binary searches in the sorted keys."""
    keys, queries = given["keys"], given["queries"]
    near = np.minimum(np.searchsorted(keys, queries), len(keys) - 1)
    firsts = np.asarray(np.searchsorted(keys, given["starts"]))
    ends = np.asarray(np.searchsorted(keys, given["ends"], "right"))
    return {"found": np.where(keys[near] == queries, given["records"][near], -1).astype(np.int32),
            "firsts": firsts.astype(np.int32), "counts": (ends - firsts).astype(np.int32)}


def _tree(keys: np.ndarray) -> tuple[np.ndarray, int]:
    """All nodes, the root first, and the number of levels. A level has a child for each node or record below it; the
    last key of a node is the first of its neighbour."""
    lows = [keys]
    while len(lows[0]) > ORDER:
        lows.insert(0, lows[0][::ORDER])
    levels: list[np.ndarray] = []
    for low in lows:
        count = blocks(len(low), ORDER)
        nodes = np.zeros(count, NODE)
        start = sum(map(len, levels)) + count if low is not keys else 0
        padded = np.pad(low, (0, count * ORDER + 1 - len(low)), constant_values=LARGEST)
        nodes["keys"][:, :-1], nodes["keys"][:, -1] = padded[:-1].reshape(-1, ORDER), padded[ORDER::ORDER]
        nodes["children"] = start + np.arange(count * ORDER).reshape(-1, ORDER)
        levels.append(nodes)
    return np.concatenate(levels), len(levels)
