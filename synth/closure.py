"""Timing closure of a linked netlist: trees and drive strengths, again while the longest path misses the goal."""

import copy

from warploom.synth.liberty import Library
from warploom.synth.netlist import Flat
from warploom.synth.regrow import regrow
from warploom.synth.sizing import resize
from warploom.synth.sta import Timer

GOAL_PS = 1000
"""1 GHz."""

ROUNDS = 3
"""How often at most: a tree is grown for the cells of its round, and stronger cells load it more."""


def close(flat: Flat, library: Library) -> Flat:
    """The netlist with new trees and stronger cells on long paths, of the round with the shortest longest path. Each
    round shortens paths with access to SRAM, too; which one is the best is decided without."""
    best, shortest = flat, float("inf")
    timer = Timer(flat, library)
    for left in reversed(range(ROUNDS)):
        regrow(flat, library, timer)
        del timer  # before the next one: it is large
        timer = resize(flat, library)
        path = timer.longest()
        if path is None or path.delay <= GOAL_PS:
            return flat
        if path.delay < shortest:
            best, shortest = copy.deepcopy(flat) if left else flat, path.delay
    return best
