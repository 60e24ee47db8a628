"""Experiments: measurements beside the published numbers."""
