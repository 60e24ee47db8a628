"""`Asked`: the requests of clients to a register file, in lists."""

from collections.abc import Mapping, Sequence

from warploom.golden_model.register_file.ports import Port, Read


class Asked:
    """`reads` has the requests of each client that has any, in the client's order."""

    def __init__(self) -> None:
        self.reads: dict[int, Sequence[Read]] = {}

    def request(self, client: int, reads: Mapping[Port, Read]) -> None:
        """Set the requests of a client from the next cycle on, in place of those that it has."""
        if reads:
            self.reads[client] = list(reads.values())
        else:
            self.reads.pop(client, None)

    def end(self, client: int, key: int) -> None:
        """A client's request of this key has been granted."""
        self.reads[client] = [read for read in self.reads[client] if read.key != key]
        if not self.reads[client]:
            del self.reads[client]
