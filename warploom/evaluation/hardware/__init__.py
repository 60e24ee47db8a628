"""The experiments on hardware: what mechanisms cost in gates and in storage (docs/bypass_hardware.md and the pages of
the evaluation)."""
