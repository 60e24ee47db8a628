"""The golden SM: the behaviour of the hardware in plain Python and numpy. Never imports `rtl` or Amaranth."""
