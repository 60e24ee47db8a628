"""The register file cache of [BOW], section V, for comparison; it has no hardware."""
