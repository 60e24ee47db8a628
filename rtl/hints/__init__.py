"""The hint unit of a scheduler: what its warps execute while they wait for memory (docs/contract/hints.md)."""
