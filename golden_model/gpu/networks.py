"""Networks made of routers: a crossbar, and a mesh (docs/contract/gpu.md, *Networks*)."""

from collections.abc import Sequence
from functools import partial

from warploom.arch.gpu import GpuConfig, Topology
from warploom.golden_model.gpu.clocks import Clock, Events
from warploom.golden_model.gpu.packets import Packet
from warploom.golden_model.gpu.queues import Queue, Target
from warploom.golden_model.gpu.router import Router

HERE, EAST, WEST, SOUTH, NORTH = range(5)
"""Queues and channels of a router of the mesh: the node itself, then its neighbours."""


class Network:
    """One direction: from some nodes to others. Senders put packets into their queue of `inputs`."""

    def __init__(self, inputs: Sequence[Queue], routers: Sequence[Router]) -> None:
        self.inputs, self.routers = inputs, routers

    @property
    def flits(self) -> int:
        """Flits that all channels have carried."""
        return sum(channel.flits for router in self.routers for channel in router.channels)


def network(
    config: GpuConfig, events: Events, clock: Clock, senders: Sequence[int], targets: Sequence[tuple[int, Target]]
) -> Network:
    """The network of a configuration, from the nodes `senders` to the targets, each with its node
    (`GpuConfig.nodes`)."""
    build = _crossbar if config.network is Topology.CROSSBAR else _mesh
    return build(config, events, clock, senders, targets)


def _crossbar(
    config: GpuConfig, events: Events, clock: Clock, senders: Sequence[int], targets: Sequence[tuple[int, Target]]
) -> Network:
    """One router."""
    router = Router(events, clock, inputs=len(senders), places=config.packet_queue, latency=config.hop_latency,
                    route=lambda packet: packet.output)
    router.connect([(target, True) for _, target in targets])
    return Network(router.inputs, [router])


def _mesh(
    config: GpuConfig, events: Events, clock: Clock, senders: Sequence[int], targets: Sequence[tuple[int, Target]]
) -> Network:
    """A router for each node; packets go east or west first, then south or north."""
    columns, places = config.mesh_columns, [place for place, _ in targets]
    rows = config.mesh_rows
    routers = [Router(events, clock, inputs=5, places=config.packet_queue, latency=config.hop_latency,
                      route=partial(_direction, columns, node, places)) for node in range(rows * columns)]
    ends: dict[int, Target] = dict(targets)
    for node, router in enumerate(routers):
        row, column = divmod(node, columns)
        neighbours = {EAST: (row, column + 1), WEST: (row, column - 1), SOUTH: (row + 1, column),
                      NORTH: (row - 1, column)}
        connected: list[tuple[Target, bool]] = [(ends.get(node, _NOWHERE), True)]
        for side, (y, x) in neighbours.items():
            inside = 0 <= y < rows and 0 <= x < columns
            connected.append((routers[y * columns + x].inputs[_OPPOSITE[side]], False) if inside else (_NOWHERE, True))
        router.connect(connected)
    return Network([routers[node].inputs[HERE] for node in senders], routers)


_OPPOSITE = {EAST: WEST, WEST: EAST, SOUTH: NORTH, NORTH: SOUTH}


class _Nowhere:
    """No target: nothing is ever sent there."""

    def has_place(self, tick: int) -> bool:
        """See `Target`."""
        raise AssertionError("a packet without a way")

    def put(self, tick: int, packet: Packet) -> None:
        """See `Target`."""
        raise AssertionError("a packet without a way")


_NOWHERE = _Nowhere()


def _direction(columns: int, node: int, places: Sequence[int], packet: Packet) -> int:
    """The channel that a packet takes at a node."""
    row, column = divmod(node, columns)
    y, x = divmod(places[packet.output], columns)
    if x != column:
        return EAST if x > column else WEST
    if y != row:
        return SOUTH if y > row else NORTH
    return HERE
