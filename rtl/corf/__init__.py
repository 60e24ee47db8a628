"""Units that CORF needs and the coalescing register file does not ([RADAIDEH], Table 3.4), to compare costs."""
