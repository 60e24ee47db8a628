"""Operand stores: where instructions wait for their operands. They are clients of the register file's read port."""
