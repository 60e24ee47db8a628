"""What CORF needs and the coalescing register file does not (seed 000, Table 3.4): hardware to compare costs with."""
