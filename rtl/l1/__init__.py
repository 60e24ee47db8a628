"""The engine's L1 (docs/contract/l1.md)."""
