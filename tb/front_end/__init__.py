"""Benches of units of the front end."""
