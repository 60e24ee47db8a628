"""The FG-SIMT engine: a golden model of every cycle (docs/contract/fg_simt.md)."""
