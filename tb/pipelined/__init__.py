"""Reads in two cycles: banks select requests in one and grant them in another."""
