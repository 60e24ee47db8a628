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

Misses = tuple[float, ...]
"""By how many ps the longest path misses the goal: of logic alone, and with access to SRAM. The first one counts
more."""

WORST: Misses = (float("inf"),)


def close(flat: Flat, library: Library) -> Flat:
    """The netlist with new trees and stronger cells on long paths, of the round that misses the goal least."""
    best, least = flat, WORST
    timer = Timer(flat, library)
    for left in reversed(range(ROUNDS)):
        regrow(flat, library, timer)
        del timer  # before the next one: it is large
        timer = resize(flat, library)
        missed = misses(timer)
        if not any(missed):
            return flat
        if missed < least:
            best, least = copy.deepcopy(flat) if left else flat, missed
    return best


def misses(timer: Timer) -> Misses:
    """How far a netlist is from the goal."""
    paths = timer.longest(), timer.longest(sram=True)
    return tuple(max(path.delay - GOAL_PS, 0.0) if path else 0.0 for path in paths)
