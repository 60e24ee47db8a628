"""CORF and CORF++, with which the coalescing register file is compared ([RADAIDEH], section 3.5.2)."""
