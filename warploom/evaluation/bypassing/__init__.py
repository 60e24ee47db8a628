"""The experiment of [BOW]: bypassing operand collectors and a register file cache (docs/evaluation_bypassing.md)."""
