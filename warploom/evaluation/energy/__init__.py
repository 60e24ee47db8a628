"""What an event of the register file costs: rules, figures and assumptions (docs/energy.md)."""
