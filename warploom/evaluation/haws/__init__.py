"""The experiment of [HAWS], chapter 5: hints for order (docs/evaluation_haws.md, docs/hints.md)."""
