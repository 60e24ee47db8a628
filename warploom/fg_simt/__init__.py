"""Programs on the FG-SIMT engine: memory images, and the programs of its source (docs/contract/fg_simt.md)."""
