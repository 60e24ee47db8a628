"""Bypassing operand collectors: values pass from instruction to instruction without the register file ([BOW])."""
