"""Renamed registers: which row of its bank each value is in, and the stall predictor ([TFET])."""
