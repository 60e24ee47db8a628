"""Area, timing and storage cost of the generated Verilog."""
