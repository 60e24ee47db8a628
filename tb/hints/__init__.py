"""Bench of the hint unit."""
