"""Bypassing operand collectors (docs/contract/operands.md, *Window collectors*): models of the units in
`warploom.rtl.bypass`."""
