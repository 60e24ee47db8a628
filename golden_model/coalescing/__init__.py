"""The coalescing register file (docs/timing.md, section 9): twins of the units in `rtl.coalescing`."""
