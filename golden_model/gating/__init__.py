"""Gating (docs/contract/stored_forms.md): twins of the units in `rtl.gating`."""
