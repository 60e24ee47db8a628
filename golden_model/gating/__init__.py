"""Gating (docs/timing.md, section 10): twins of the units in `rtl.gating`."""
