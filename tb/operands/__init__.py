"""Benches of the operand stores."""
