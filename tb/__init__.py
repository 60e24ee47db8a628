"""cocotb benches: the only place where hardware meets the golden model."""
