"""`LostValues`: checks that no dropped value is read (docs/contract/operands.md, *Hints*)."""

from collections.abc import Sequence

from warploom.golden_model.records import IssueFields


class LostValue(AssertionError):
    """An instruction reads a register in a lane whose only copy was dropped: a hint was wrong."""


class LostValues:
    """The lanes of a warp's registers that neither its collector nor the register file has any more.

    Call `dropped` and `taken` in the order of events: a later write gives lanes that were dropped a value again.
    """

    def __init__(self) -> None:
        self._lanes: dict[int, int] = {}

    def dropped(self, register: int, lanes: int) -> None:
        """The only copy of a register in these lanes was dropped."""
        self._lanes[register] = self._lanes.get(register, 0) | lanes

    def taken(self, fields: IssueFields, sources: Sequence[int | None]) -> None:
        """An instruction that reads these registers (`None` for none) is taken, with the fields of the issue port.
        Raises `LostValue`."""
        if not self._lanes:
            return
        if fields["first"]:
            self._lanes.clear()
        for register in sources:
            if register is not None and self._lanes.get(register, 0) & fields["lanes"]:
                raise LostValue(f"warp {fields['warp']} reads R{register}, whose value was dropped, in lanes "
                                f"{self._lanes[register] & fields['lanes']:#010x}")
        if fields["writes"] and fields["dst"] in self._lanes:
            self._lanes[fields["dst"]] &= ~fields["lanes"]
