"""Truth tables of LOP3 and PLOP3: a logic function of `A`, `B`, `C` (operand slots 0..2) is its own `lut`."""

A, B, C = 0xF0, 0xCC, 0xAA

AND, OR, XOR, NOT = A & B, A | B, A ^ B, ~A & 0xFF

INSERT = (A & C) | (B & ~C & 0xFF)
"""Takes the bits of a where c is set, else those of b."""
