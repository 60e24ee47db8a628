"""The experiments of [TFET]: a register file of CMOS and TFET rows, and its rename stage (docs/evaluation_tfet.md,
docs/tfet.md)."""
