"""The coalescing register file (docs/contract/register_file.md): twins of the units in `warploom.rtl.coalescing`."""
