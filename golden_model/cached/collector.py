"""`CachedCollector`: an operand comes from the register file, from its cache, or partly from both."""

from warploom.golden_model.operands.collector import ALL_COLUMNS, Slots
from warploom.golden_model.placement import Address
from warploom.golden_model.records import IssueFields
from warploom.golden_model.register_file.ports import Metadata, Port, Read
from warploom.golden_model.words import ALL_LANES, merge


class CachedCollector(Slots):
    """A collector of the baseline whose slots wait until all executing lanes have been granted. `missing` holds, for
    each slot, the lanes that have not been granted."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.missing = [0, 0, 0]

    def issue(
        self, fields: IssueFields, sources: tuple[Address, ...], destination: Address, metadata: tuple[Metadata, ...]
    ) -> None:
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, and its addresses."""
        self._take(fields, sources, destination)
        self.columns_stored += ALL_COLUMNS[self.present]
        self.missing = [fields["lanes"]] * 3

    def requests(self) -> dict[Port, Read]:
        """The registers that slots wait for, lowest slot first, each with its missing lanes and the executing lanes."""
        lanes = self.fields["lanes"]
        return {(self.sources[slot].bank, slot): Read(slot, self.sources[slot], (missing, lanes), ALL_LANES)
                for slot, missing in enumerate(self.missing) if self.waiting >> slot & 1}

    def grant(self, read: Read) -> bool:
        """The lanes in the metadata of a slot are granted. Returns whether the slot no longer waits."""
        slot = read.key
        self.missing[slot] &= ~read.metadata
        if self.missing[slot]:
            return False
        self.waiting &= ~(1 << slot)
        return True

    def capture(self, read: Read, word: int) -> None:
        """The word of a slot granted in the previous cycle arrives; only the lanes in its metadata count."""
        slot = read.key
        self.words[slot] = merge(self.words[slot], word, read.metadata)
        if not self.waiting >> slot & 1:
            self._fill(read, self.words[slot])

    def operands(self) -> tuple[int, int, int]:
        """The three operands; meaningful when ready."""
        return self.words[0], self.words[1], self.words[2]
