"""The GPU around the SMs: interconnect, L2 cache, DRAM, and the scheduler of blocks."""
