"""Pre-execution: hardware finds what a warp may execute while it waits for memory (docs/contract/comparators.md)."""
