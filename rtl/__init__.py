"""The hardware, in Amaranth. Never imports `golden_model`."""
