"""The contract of the FG-SIMT engine: sizes, code that it executes, memory images (docs/contract/fg_simt.md)."""
