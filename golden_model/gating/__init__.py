"""Gating (docs/contract/stored_forms.md): models of the units in `warploom.rtl.gating`."""
