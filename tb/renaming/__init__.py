"""Benches of renaming and of the stall predictor."""
