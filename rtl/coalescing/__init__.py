"""The coalescing register file in hardware ([RADAIDEH], chapter 3): units that take the place of baseline ones."""
