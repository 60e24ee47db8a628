"""The engine's L1: `Bank`, crossbars, and the whole (docs/contract/l1.md)."""
