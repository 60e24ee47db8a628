"""Liveness of virtual registers, by their numbers.

Lanes are independent, so the liveness of one thread is enough under divergence. A guarded write leaves the old value in
some lanes and so does not end a live range upwards, except that of a `local` register. A register is live only if an
earlier write of it is possible: a read of an undefined value needs no register.

Most registers live within one block. Only those that some block reads before writing take part in the analysis of the
whole graph, as bits of Python integers; inside a block the live registers are a set.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from warploom.compiler.cfg import ControlFlow
from warploom.compiler.dataflow import solve, union
from warploom.compiler.ir import Node, RegisterClass, VirtualRegister


class Access(NamedTuple):
    """Accesses of a node to registers of the analysed classes: `kills` are the writes after which the old value cannot
    be read."""

    node: Node
    reads: list[int]
    writes: list[int]
    kills: list[int]


def kills(node: Node) -> list[VirtualRegister]:
    """Registers whose old value cannot be read after the node."""
    return node.writes if node.guard is None else [register for register in node.writes if register.local]


class Liveness:
    """The live registers at every point of a control-flow graph, as it is at construction: of one class, or of both.
    `accesses` has those of the nodes of each block."""

    def __init__(self, flow: ControlFlow, kind: RegisterClass | None = None) -> None:
        classes = (kind,) if kind else tuple(RegisterClass)
        self.accesses = [[_access(node, classes) for node in block.nodes] for block in flow.blocks]
        local = [_upward(accesses) for accesses in self.accesses]
        self._wide = list(dict.fromkeys(register for exposed, _, _ in local for register in exposed))
        self._bit = {register: bit for bit, register in enumerate(self._wide)}
        exposed, killed, written = ([self._mask(found[part]) for found in local] for part in range(3))
        successors, predecessors = [block.successors for block in flow.blocks], flow.predecessors
        order, depths = flow.postorder, flow.depths
        self._live_in = solve(order, depths, successors, predecessors, lambda b, met: exposed[b] | met & ~killed[b])
        self._live_out = [union(self._live_in, found) for found in successors]
        defined = solve(order[::-1], depths, predecessors, successors, lambda b, met: met | written[b])
        self._defined_in = [union(defined, found) for found in predecessors]
        self._ignored: set[int] = set()
        self._ignored_mask = 0

    def enters(self, index: int, register: VirtualRegister) -> bool:
        """True if a block, or one behind it, may read a register before writing it there, whether or not it was written
        before."""
        bit = self._bit.get(register.number)
        return bit is not None and bool(self._live_in[index] >> bit & 1)

    def ignore(self, registers: list[int]) -> None:
        """Treat registers as never live from here on."""
        self._ignored.update(registers)
        self._ignored_mask |= self._mask(registers)

    def after(self, index: int) -> Iterator[tuple[Access, set[int]]]:
        """(access, registers live after it) for the nodes of a block, last node first. The set changes with the next
        step; registers that the caller removes from it stay removed."""
        undefined = self._registers(self._live_in[index] & ~self._defined_in[index])
        steps = self.accesses[index]
        if undefined:
            steps = [_hide(access, undefined) for access in steps]
        live = self._registers(self._live_out[index] & ~self._ignored_mask) - undefined
        for access in reversed(steps):
            yield access, live
            live.difference_update(access.kills)
            live.update(access.reads)
            if self._ignored:
                live.difference_update(self._ignored.intersection(access.reads))

    def _mask(self, registers: Iterable[int]) -> int:
        bits = [self._bit[register] for register in registers if register in self._bit]
        octets = bytearray(max(bits, default=0) // 8 + 1)
        for bit in bits:
            octets[bit >> 3] |= 1 << (bit & 7)
        return int.from_bytes(octets, "little")

    def _registers(self, mask: int) -> set[int]:
        if not mask:
            return set()
        octets = np.frombuffer(mask.to_bytes((mask.bit_length() + 7) // 8, "little"), np.uint8)
        return {self._wide[bit] for bit in np.flatnonzero(np.unpackbits(octets, bitorder="little")).tolist()}


def _access(node: Node, classes: tuple[RegisterClass, ...]) -> Access:
    reads = [register.number for register in node.reads if register.kind in classes]
    writes = [register.number for register in node.writes if register.kind in classes]
    return Access(node, reads, writes, [register.number for register in kills(node) if register.kind in classes])


def _hide(access: Access, undefined: set[int]) -> Access:
    """An access without reads of undefined registers; registers that it writes become defined."""
    reads = [register for register in access.reads if register not in undefined]
    ended = [*access.kills, *undefined.intersection(access.writes)]
    undefined.difference_update(access.writes)
    return access._replace(reads=reads, kills=ended)


def _upward(accesses: list[Access]) -> tuple[set[int], set[int], set[int]]:
    """(registers read before they are killed, registers killed, registers written) of a block."""
    exposed: set[int] = set()
    killed: set[int] = set()
    written: set[int] = set()
    for access in accesses:
        exposed.update(register for register in access.reads if register not in killed)
        killed.update(access.kills)
        written.update(access.writes)
    return exposed, killed, written
