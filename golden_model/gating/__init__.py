"""Gating (docs/contract/stored_forms.md): twins of the units in `warploom.rtl.gating`."""
