"""The coalescing register file in hardware (seed 000, chapter 3): units that take the place of baseline ones."""
