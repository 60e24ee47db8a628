"""Parts of the FG-SIMT engine (docs/contract/fg_simt.md)."""
