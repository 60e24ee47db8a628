"""The coalescing register file in hardware ([RADAIDEH], chapter 3): units that replace those of the baseline."""
