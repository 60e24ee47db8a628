"""Units of a lane for single precision and for division; a machine has as many as it has lanes."""
