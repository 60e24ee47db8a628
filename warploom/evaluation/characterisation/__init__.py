"""The experiment of [HAWS], chapter 4: what programs execute and wait for (docs/evaluation_haws.md)."""
