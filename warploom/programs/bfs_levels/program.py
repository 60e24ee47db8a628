"""Breadth-first search by level: the host launches until a flag stays clear; few nodes have very many edges."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"RADAIDEH": "bfs", "BOW": "BFS", "TFET": "BFS"}

SIZES = {"tiny": (64, 32), "default": (1500, 256), "large": (150_000, 512)}
"""Nodes, and threads of a block."""

NODE = np.dtype([("first_edge", np.int32), ("edges", np.int32)])


def inputs(size: str) -> Inputs:
    """A graph in which the number of a node's edges falls off as a power law, at both of their ends; some nodes are
    out of reach."""
    random, (count, threads) = np.random.default_rng(3), SIZES[size]
    degrees = np.minimum(random.zipf(2.0, count), min(count // 8, 1000))
    degrees[0] = 8
    nodes = np.zeros(count, NODE)
    nodes["edges"], nodes["first_edge"] = degrees, np.cumsum(degrees) - degrees
    ends = random.permutation(count)[(count * random.random(degrees.sum()) ** 2).astype(np.int64)]
    return {"nodes": nodes, "edges": ends.astype(np.int32), "source": 0, "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The distance of every node from the source, in edges; -1 where there is no path."""
    module = gpu.module(Path(__file__).with_name("bfs_levels.ptx"))
    expand, advance = module["expand"], module["advance"]
    count, threads, source = len(given["nodes"]), given["threads"], given["source"]
    nodes, edges = gpu.array(given["nodes"], "nodes"), gpu.array(given["edges"], "edges")
    at_source = np.arange(count) == source
    frontier, visited = gpu.array(at_source, "frontier"), gpu.array(at_source, "visited")
    reached, found = gpu.zeros(count, np.bool_, "reached"), gpu.zeros(1, np.bool_, "found")
    distances = gpu.array(np.where(at_source, 0, -1).astype(np.int32), "distances")

    grid = blocks(count, threads)
    while True:
        found.set(np.zeros(1, np.bool_))
        expand[grid, threads](nodes, edges, frontier, reached, visited, distances, count)
        advance[grid, threads](frontier, reached, visited, found, count)
        if not found.numpy()[0]:
            return {"distances": distances.numpy()}


def reference(given: Inputs) -> Outputs:
    """Level by level, with sets of nodes."""
    nodes, edges = given["nodes"], given["edges"]
    distances = np.full(len(nodes), -1, np.int32)
    frontier, level = np.array([given["source"]]), 0
    while len(frontier):
        distances[frontier] = level
        near = [edges[first : first + count] for first, count in nodes[frontier].tolist()]
        ends = np.unique(np.concatenate(near))
        frontier, level = ends[distances[ends] < 0], level + 1
    return {"distances": distances}
