"""CORF and CORF++, the comparators of the coalescing register file ([RADAIDEH], section 3.5.2)."""
