"""The register file: its banks, the arbitration of accesses, and the stored form of warp registers."""
