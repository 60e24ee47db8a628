# amaranth: UnusedElaboratable=no
"""The hardware that only CORF needs: its storage is that of [RADAIDEH], Table 3.4; its illegal sizes."""

import pytest

from warploom.arch.config import SmConfig
from warploom.rtl.corf.allocation import Allocator, MaskTable
from warploom.rtl.corf.rename import RenameTable

NARROW = SmConfig.preset("narrow")


def test_storage_is_that_of_the_table() -> None:
    """Rename table 3.7 KB, allocation table 1.47 KB, free register map 512 B."""
    assert RenameTable(config=NARROW).bits / 8 / 1024 == pytest.approx(3.7, abs=0.05)
    assert MaskTable(config=NARROW).bits / 8 / 1024 == pytest.approx(1.47, abs=0.01)
    assert NARROW.banks * Allocator(rows=NARROW.rows).bits / 8 == 512


@pytest.mark.parametrize("rows", [0, -1, 2.5])
def test_an_allocator_has_entries(rows: object) -> None:
    with pytest.raises(ValueError, match=f"rows must be a positive integer, not {rows!r}"):
        Allocator(rows=rows)  # type: ignore[arg-type]
