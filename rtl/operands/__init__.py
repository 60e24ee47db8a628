"""The operand stores: where instructions wait for their operands."""
