"""`SlicedCrossbar`: one crossbar for each sub-bank ([RADAIDEH], Fig. 3.18b)."""

from collections.abc import Sequence

from warploom.golden_model.byte_order import SLICE_BITS


class SlicedCrossbar:
    """Combinational: `banks` inputs and `collectors` outputs of 1024 bits in sub-bank form, slice k in bits 256k ..
    256k + 255. The slices of a collector may come from different banks, and those of a bank may go to different
    collectors."""

    def __init__(self, banks: int, collectors: int) -> None:
        self.banks, self.collectors = banks, collectors

    def route(self, words: Sequence[int], slice_grants: Sequence[Sequence[int]]) -> list[int]:
        """The word that each collector receives, zero in slices that were not granted.

        `words` are the outputs of the banks; `slice_grants` holds, for each slice and bank, the mask of collectors (at
        most one) to which it was granted one cycle before.
        """
        routed = [0] * self.collectors
        for number, grants in enumerate(slice_grants):
            covered = (1 << SLICE_BITS) - 1 << SLICE_BITS * number
            for word, grant in zip(words, grants, strict=True):
                if grant:
                    routed[grant.bit_length() - 1] |= word & covered
        return routed
