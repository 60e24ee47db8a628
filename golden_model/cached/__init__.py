"""The register file cache of [BOW], section V: a comparator, without hardware."""
