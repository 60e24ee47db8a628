"""Bypassing operand collectors (docs/timing.md, section 11): twins of the units in `rtl.bypass`."""
