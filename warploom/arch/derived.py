"""`DerivedSizes`: sizes and numbers that follow from the parameters of one streaming multiprocessor."""

import dataclasses
from functools import cached_property
from itertools import accumulate, chain

from warploom.arch.fg_simt.sizes import Sizes
from warploom.arch.isa import Pipe, TimingClass
from warploom.arch.pipes import LANE_CLASSES, MINIMUM_LATENCY, PipeConfig, Sharing, WritePaths
from warploom.arch.sm_fields import SmFields


class DerivedSizes(SmFields):
    """Collectors, ports, pipes and paths of an SM, by number."""

    @property
    def engine(self) -> Sizes:
        """The lanes of the FG-SIMT engine, and what follows from their number."""
        return Sizes(self.engine_lanes)

    @property
    def affine_entries(self) -> int:
        """Registers of one set of the affine register file: one for each warp register of the scheduler's warps."""
        return self.banks * self.rows // self.schedulers

    @property
    def cmos_rows(self) -> int:
        """CMOS rows of each bank, the first ones; those behind them are slow."""
        return self.rows - self.tfet_rows

    @property
    def collector_sets(self) -> tuple[range, ...]:
        """The numbers of the collectors of each set: the general one first, then those of SFU and of MEM."""
        sizes = [self.sfu_collectors, self.mem_collectors]
        ends = list(accumulate([self.collectors - sum(sizes), *filter(None, sizes)]))
        return tuple(map(range, [0, *ends], ends))

    def collector_set(self, kind: Pipe) -> int:
        """The number of the set of collectors for the instructions of a kind of pipe."""
        if kind is Pipe.SFU and self.sfu_collectors:
            return 1
        return len(self.collector_sets) - 1 if kind is Pipe.MEM and self.mem_collectors else 0

    @property
    def shows_claims(self) -> bool:
        """Whether the datapath shows how many collectors are free, so that issue ports need no `ready`."""
        return not self.has_window and (self.issue_inputs > 1 or len(self.collector_sets) > 1)

    @property
    def waiting_instructions(self) -> int:
        """Maximum instructions in one collector: those of a window, or one."""
        return self.window if self.has_window else 1

    @property
    def lane_stages(self) -> int:
        """Stages of an integer lane. With compact slots there is one more, in front: it holds the operands, since they
        are expanded in the cycle before."""
        return MINIMUM_LATENCY - 1 + self.has_compact_slots

    @cached_property
    def timed_pipes(self) -> tuple[PipeConfig, ...]:
        """The pipes, with the lanes that an instruction has, and with the latencies that the classes of the integer
        lanes have: not less than the lanes take."""
        least = self.lane_stages + 1
        return tuple(
            dataclasses.replace(pipe, classes={
                name: (max(latency, least), interval) if name in LANE_CLASSES else (latency, interval)
                for name, (latency, interval) in pipe.classes.items()})
            for pipe in self._parted_pipes)

    @property
    def _parted_pipes(self) -> tuple[PipeConfig, ...]:
        """The pipes, with the lanes that an instruction has: those of a part."""
        return tuple(dataclasses.replace(pipe, lanes=pipe.lanes // self.parts_of(pipe)) for pipe in self.pipes)

    def parts_of(self, pipe: PipeConfig) -> int:
        """The parts of a pipe, each with lanes of its own: one for each scheduler if it is shared evenly."""
        return self.schedulers if pipe.sharing is Sharing.EVEN else 1

    @property
    def shares_pipes(self) -> bool:
        """Whether there are pipes that all schedulers share by a policy."""
        return any(pipe.is_shared for pipe in self.pipes)

    @property
    def issue_inputs(self) -> int:
        """The number of issue inputs, over each of which an instruction may enter the datapath in a cycle; those of a
        port are neighbours."""
        return self.issue_ports * self.issue_per_warp

    def inputs_of(self, port: int) -> range:
        """The issue inputs of a port."""
        return range(port * self.issue_per_warp, (port + 1) * self.issue_per_warp)

    @property
    def address_slots(self) -> int:
        """The number of address slots: one for each issue port."""
        return self.issue_ports if self.has_address_slot else 0

    @property
    def holders(self) -> int:
        """The number of holders, in which instructions wait for dispatch: collectors, and address slots after them."""
        return self.collectors + self.address_slots

    def holders_of(self, port: int) -> tuple[int, ...]:
        """The numbers of the holders whose instructions leave by a dispatch port: the collectors of the sets of its
        pipes, and for memory the address slots."""
        kinds = {pipe.kind for pipe in self.pipes if pipe.dispatch_port == port}
        sets = sorted({self.collector_set(kind) for kind in kinds})
        slots = range(self.collectors, self.holders) if Pipe.MEM in kinds else ()
        return (*chain.from_iterable(self.collector_sets[number] for number in sets), *slots)

    @property
    def scheduler_warps(self) -> int:
        """The number of warp slots of a scheduler."""
        return self.warps // self.schedulers

    @property
    def divides_metadata(self) -> bool:
        """Whether a register has another address in the metadata tables than in the banks: with several issue ports,
        among which they are divided, and with renaming."""
        return (self.issue_ports > 1 or self.renames) and (self.has_sides or self.has_zero_mask)

    @property
    def writers(self) -> tuple[str, ...]:
        """The names of the pipes, each of which has a write latch."""
        return tuple(pipe.name for pipe in self.pipes)

    @property
    def write_paths(self) -> WritePaths:
        """The numbers of the pipes that share each path to the banks."""
        pipes = self.pipes
        paths = sorted({pipe.write_path for pipe in pipes})
        return tuple(tuple(i for i, pipe in enumerate(pipes) if pipe.write_path == path) for path in paths)

    @property
    def rotating_paths(self) -> int:
        """The number of paths, the first ones, that take turns: if results of SP may wait, those of SP and SFU."""
        if not self.pipes[0].result_queue:
            return 1
        return len({pipe.write_path for pipe in self.pipes if pipe.kind is not Pipe.MEM})

    @property
    def dispatch_ports(self) -> dict[str, tuple[int, ...]]:
        """The numbers of the pipes that each dispatch port serves, by its name."""
        ports = sorted({pipe.dispatch_port for pipe in self.pipes})
        return {"dispatch" if len(ports) == 1 else f"dispatch_{port}":
                tuple(i for i, pipe in enumerate(self.pipes) if pipe.dispatch_port == port) for port in ports}

    @property
    def queues_grow(self) -> bool:
        """Whether result queues are as long as they need to be: those of comparators, whose write latches may wait for
        more than their turn. They have no hardware."""
        return self.packs_registers or self.has_register_cache

    def numbers(self, kind: Pipe) -> tuple[int, ...]:
        """The numbers of the pipes of a kind: their positions in the list."""
        return tuple(i for i, pipe in enumerate(self.pipes) if pipe.kind is kind)

    def serving(self, timing_class: TimingClass, warp: int) -> tuple[int, ...]:
        """The numbers of the pipes that execute instructions of a class of the warp in a slot: first the one that its
        scheduler owns, then the shared ones."""
        having = [i for i, pipe in enumerate(self.pipes) if timing_class.name.lower() in pipe.classes]
        own = [i for i in having if not self.pipes[i].is_shared]
        owned = own[warp % self.schedulers % len(own):][:1] if own else []
        return (*owned, *(i for i in having if self.pipes[i].is_shared))
