"""The golden SM: what the hardware must do, in plain Python and numpy. Never imports `rtl` or Amaranth."""
