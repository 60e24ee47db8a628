"""`ReadSelection`: each port of a bank selects a read in one cycle, which is granted in a later one
(docs/contract/register_file.md, *Reads in two cycles*)."""

from collections.abc import Mapping, Sequence

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES
from warploom.golden_model.masks import lowest
from warploom.golden_model.register_file.ports import Port, Read, RegisterFile


class ReadPort:
    """The `client` whose request the register holds, the mask of those that wait, and the one that goes first."""

    def __init__(self) -> None:
        self.client: int | None = None
        self.waiting = self._first = 0

    def select(self, waiting: int) -> int:
        """The next client of the mask, cyclically, after the last one."""
        ahead = waiting >> self._first << self._first
        self.client = lowest(ahead or waiting)
        self._first = self.client + 1
        return self.client


class ReadSelection:
    """The registers between clients that request one read at a time and a register file, one for each port of a bank.

    The file sees a request when it is in a register. Requests that wait for their selection count as conflicts.
    """

    def __init__(self, config: SmConfig, register_file: RegisterFile) -> None:
        self._file = register_file
        sides = range(len(SIDES) if config.has_sides else 1)
        self._asked: dict[int, tuple[Port, Read]] = {}  # by client
        self._ports: dict[Port, ReadPort] = {(bank, side): ReadPort() for bank in range(config.banks) for side in sides}
        self._in_register: dict[int, ReadPort] = {}  # by client
        self.observed = tuple(f"select{bank}{f'_{SIDES[side]}' if config.has_sides else ''}_{name}"
                              for bank, side in self._ports for name in ("valid", "who"))

    def request(self, client: int, reads: Mapping[Port, Read]) -> None:
        """Set the request of a client from the next cycle on; there is one at most."""
        if (before := self._asked.pop(client, None)) is not None:
            self._ports[before[0]].waiting ^= 1 << client
        for port, read in reads.items():
            self._asked[client] = port, read
            self._ports[port].waiting |= 1 << client

    def select(self, granted: Sequence[int]) -> Sequence[int]:
        """The end of a cycle in which the requests of these clients are granted. Returns the clients whose requests
        are selected."""
        if not self._asked and not granted:
            return ()
        busy = sum(1 << client for client in self._in_register)
        for client in granted:
            self._in_register.pop(client).client = None
        selected = []
        for number, port in self._ports.items():
            waiting = port.waiting & ~busy
            if waiting and port.client is None:
                selected.append(client := port.select(waiting))
                self._in_register[client] = port
                self._file.request(client, {number: self._asked[client][1]})
                self._file.bank_conflicts += waiting.bit_count() - 1
            else:
                self._file.bank_conflicts += waiting.bit_count()
        return selected

    def observe(self) -> Sequence[int]:
        """For each port whether its register holds a request, and of which client."""
        return [value for port in self._ports.values() for value in (port.client is not None, port.client or 0)]
