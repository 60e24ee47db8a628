"""The separable allocator."""
