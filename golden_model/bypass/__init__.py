"""Bypassing operand collectors (docs/contract/operands.md, *Window collectors*): twins of the units in
`warploom.rtl.bypass`."""
