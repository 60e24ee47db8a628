"""CORF and CORF++, the comparators of the coalescing register file (seed 000, section 3.5.2)."""
