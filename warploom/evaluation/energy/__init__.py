"""The energy of the register file: its rules, figures and assumptions (docs/energy.md)."""
