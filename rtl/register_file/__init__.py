"""The register file: stored forms, and write-back."""
