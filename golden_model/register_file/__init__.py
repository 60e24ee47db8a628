"""The register file: banks and what guards them, and the form in which they store a warp register."""
