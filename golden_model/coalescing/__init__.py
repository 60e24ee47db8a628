"""The coalescing register file (docs/contract/register_file.md): models of the units in `warploom.rtl.coalescing`."""
