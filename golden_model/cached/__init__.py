"""The register file cache of seed 001, section V: a comparator, without hardware."""
