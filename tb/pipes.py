"""Settings of pipes that no preset has, for benches."""

from warploom.arch.mechanisms.baseline import HALF_LANES, PATH_EACH, PORT_EACH, SP_APART, TWO_SP

__all__ = ["HALF_LANES", "PATH_EACH", "PORTS", "TWO_SP"]

PORTS = {"one for all": (), "one for sp": SP_APART, "one each": PORT_EACH}
"""Settings by the description of the dispatch ports of two pipes of SP."""
