"""Registers that are renamed into rows of two kinds (docs/contract/renaming.md)."""
