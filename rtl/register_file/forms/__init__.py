"""Stored forms: whole words, bytes as needed ([RADAIDEH], chapter 3), a zero mask (chapter 4), or both."""

from warploom.arch.config import SmConfig
from warploom.rtl.register_file.forms.form import Form
from warploom.rtl.register_file.forms.narrow import Narrow
from warploom.rtl.register_file.forms.narrow_zero_masked import NarrowZeroMasked
from warploom.rtl.register_file.forms.plain import Plain
from warploom.rtl.register_file.forms.zero_masked import ZeroMasked


def form_of(config: SmConfig) -> Form:
    """The stored form of a configuration."""
    if config.has_sides:
        return NarrowZeroMasked(config) if config.has_zero_mask else Narrow(config)
    return ZeroMasked(config) if config.has_zero_mask else Plain(config)
