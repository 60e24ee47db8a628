"""`GpuConfig`: every parameter of the GPU around its SMs, validated."""

import dataclasses
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NoReturn

from warploom.arch import config_text
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, shown
from warploom.arch.mechanisms import Switch
from warploom.arch.names import RULE, names_a_file
from warploom.arch.parameters import GTX_480, OURS, choice, number, parameters
from warploom.arch.pipes import PIPES
from warploom.arch.preset_files import PresetFiles
from warploom.arch.settings import parsed

GPU, INTERCONNECT, L2, DRAM = GPU_PARTS = ("gpu", "interconnect", "l2", "dram")
"""Parts of a GPU around its SMs; each has a table in a configuration file."""

_SM = "sm"
_OF_ONE_SM = ("memory_latency", "memory_interval")
_TABLE_4_1, _TABLE_6_3 = "[HAWS], Table 4.1", "[HAWS], Table 6.3"


class Topology(StrEnum):
    """The form of the interconnect."""

    CROSSBAR = "crossbar"
    MESH = "mesh"


class WritePolicy(StrEnum):
    """What the L2 cache does with writes."""

    BACK = "back"
    THROUGH = "through"


class BlockOrder(StrEnum):
    """To which SMs the block scheduler gives blocks."""

    IN_TURN = "in_turn"  # the next block to whichever SM has room
    LOCALITY = "locality"  # adjacent blocks to one SM, if the launch has a hint
    TUBA = "tuba"  # in turn, fewer to an SM that has few free TFET rows
    DYNCTA = "dyncta"  # a comparator: in turn, fewer to an SM that waits for memory


_BLOCKS = Switch("block_scheduler", BlockOrder.IN_TURN, GPU,
                 "blocks go to SMs in turn, or adjacent ones to one SM if the launch has a hint (locality), or fewer "
                 "to one with few free TFET rows (tuba) or that waits for memory (dyncta)", "[HAWS], [TFET]")
_NETWORK = Switch("network", Topology.CROSSBAR, INTERCONNECT, "form of both networks", OURS)
_WRITES = Switch("l2_write", WritePolicy.BACK, L2, "writes go to DRAM when evicted (back) or at once (through)", OURS)


@dataclass(frozen=True, kw_only=True)
class GpuConfig:
    """A GPU: the configuration of its SMs, which are all alike, and what is around them (docs/contract/gpu.md).
    Defaults are the `k20x` preset.

    Sizes are in the unit in their name; all others are numbers. Cycles are those of the part's clock. Raises
    `ConfigError`, with the field, its value and the legal range, if a value is illegal or two fields contradict each
    other.
    """

    name: str = "k20x"
    sm: SmConfig = field(default_factory=SmConfig)

    sms: int = number(14, GPU, "streaming multiprocessors", (1, 32), _TABLE_6_3)
    core_mhz: int = number(732, GPU, "clock of the SMs", (1, 10000), _TABLE_6_3, unit="MHz")
    block_scheduler: BlockOrder = choice(_BLOCKS)

    network: Topology = choice(_NETWORK)
    network_mhz: int = number(732, INTERCONNECT, "clock of the networks", (1, 10000), OURS, unit="MHz")
    channel_bytes: int = number(64, INTERCONNECT, "a flit", (4, 256), OURS, unit="bytes", is_power=True)
    header_bytes: int = number(8, INTERCONNECT, "of each packet, beside its data", (1, 64), OURS, unit="bytes")
    hop_latency: int = number(8, INTERCONNECT, "through a router", (1, 1000), OURS, unit="cycles")
    packet_queue: int = number(8, INTERCONNECT, "packets that each input of a router holds", (1, 1024), OURS)
    mesh_columns: int = number(6, INTERCONNECT, "columns of a mesh", (1, 64), OURS)

    slices: int = number(12, L2, "slices, each with its own ends of both networks", (1, 32), OURS)
    l2_mhz: int = number(732, L2, "clock of the slices", (1, 10000), OURS, unit="MHz")
    l2_sets: int = number(64, L2, "sets of a slice", (1, 65536), _TABLE_4_1, is_power=True)
    l2_ways: int = number(16, L2, "ways of a set", (1, 64), _TABLE_4_1)
    l2_latency: int = number(100, L2, "from a request's arrival to its look-up", (1, 10000), OURS, unit="cycles")
    l2_queue: int = number(8, L2, "requests in a slice, beside one for each cycle of l2_latency", (1, 1024), OURS)
    l2_mshrs: int = number(128, L2, "lines that a slice may miss at once", (1, 1024), OURS)
    l2_merges: int = number(8, L2, "requests that wait for one line", (1, 64), OURS)
    l2_write: WritePolicy = choice(_WRITES)
    interleave_bytes: int = number(
        256, L2, "consecutive bytes in one slice", (32, 1 << 20), GTX_480, unit="bytes", is_power=True)

    channels: int = number(6, DRAM, "channels, which share the slices evenly", (1, 32), OURS)
    dram_mhz: int = number(1300, DRAM, "clock of the channels", (1, 10000), OURS, unit="MHz")
    dram_bytes: int = number(
        32, DRAM, "bytes that a channel moves in a cycle", (1, 256), OURS, unit="bytes", is_power=True)
    dram_banks: int = number(16, DRAM, "banks of a channel", (1, 64), GTX_480, is_power=True)
    row_bytes: int = number(2048, DRAM, "a row, as long as the row buffer", (32, 1 << 20), OURS, unit="bytes",
                            is_power=True)
    dram_queue: int = number(
        16, DRAM, "accesses of a slice at its channel, beside one for each cycle of controller_latency", (1, 1024),
        OURS)
    controller_latency: int = number(
        145, DRAM, "from a slice to the commands", (0, 10000), OURS, unit="cycles")
    row_activate: int = number(12, DRAM, "tRCD: from activate to column", (1, 1000), GTX_480, unit="cycles")
    row_precharge: int = number(12, DRAM, "tRP: from precharge to activate", (1, 1000), GTX_480, unit="cycles")
    row_active: int = number(28, DRAM, "tRAS: from activate to precharge", (1, 1000), GTX_480, unit="cycles")
    activate_interval: int = number(
        6, DRAM, "tRRD: between activates of a channel", (1, 1000), GTX_480, unit="cycles")
    column_latency: int = number(12, DRAM, "CL: from a read to its data", (1, 1000), GTX_480, unit="cycles")
    write_latency: int = number(4, DRAM, "WL: from a write to its data", (1, 1000), GTX_480, unit="cycles")
    write_recovery: int = number(
        12, DRAM, "tWR: from the end of written data to precharge", (0, 1000), GTX_480, unit="cycles")
    bus_turnaround: int = number(
        5, DRAM, "between data of opposite directions", (0, 1000), GTX_480, unit="cycles")

    def __post_init__(self) -> None:
        if not names_a_file(self.name):
            raise ConfigError(f"name = {shown(self.name)}: {RULE}: it names files")
        if not isinstance(self.sm, SmConfig):
            raise ConfigError(f"sm = {shown(self.sm)}: must be an SmConfig")
        for name, parameter in GPU_PARAMETERS.items():
            object.__setattr__(self, name, parameter.check(name, getattr(self, name)))
        if self.slices % self.channels:
            self._disagree("slices", "channels", "every channel serves the same number of slices")
        for name in ("interleave_bytes", "row_bytes"):
            if getattr(self, name) < self.sm.line_bytes:
                self._disagree(name, "line_bytes", "it must hold a line of the SM's L1 cache")
        if self.network is Topology.MESH and self.mesh_columns > self.sms + self.slices:
            self._disagree("mesh_columns", "sms", "a column must have a node")
        if self.block_scheduler is BlockOrder.TUBA and not self.sm.renames:
            self._disagree("block_scheduler", "renaming", "it asks how many TFET rows are free; use renaming = mem_ra")
        if self.block_scheduler is BlockOrder.DYNCTA and self.sm.front_end_interval > 1:
            self._disagree("block_scheduler", "front_end_interval", "it counts the cycles of schedulers; use 1")

    def _disagree(self, name: str, other: str, reason: str) -> NoReturn:
        values = {each: getattr(self if each in GPU_PARAMETERS else self.sm, each) for each in (name, other)}
        raise ConfigError(f"{name} = {values[name]} and {other} = {values[other]} disagree: {reason}")

    # ------------------------------------------------------------------ sizes

    @property
    def line_bytes(self) -> int:
        """A line, of L1 and L2 alike."""
        return self.sm.line_bytes

    @property
    def burst(self) -> int:
        """Cycles in which a channel moves a line."""
        return -(-self.line_bytes // self.dram_bytes)

    @property
    def slices_per_channel(self) -> int:
        """Slices that a channel serves: neighbours."""
        return self.slices // self.channels

    def flits(self, size: int) -> int:
        """Length of a packet with so many bytes of data."""
        return -(-(self.header_bytes + size) // self.channel_bytes)

    @property
    def peak_bytes_per_second(self) -> int:
        """What streams of reads can reach at most: the least of what all channels of DRAM, the slices with a line a
        cycle, and the ends of the reply network at the slices and at the SMs, carry of data."""
        line, flits = self.line_bytes, self.flits(self.line_bytes)
        dram = self.channels * self.dram_mhz * 10**6 * line // self.burst
        l2 = self.slices * self.l2_mhz * 10**6 * line
        return min(dram, l2, *(ends * self.network_mhz * 10**6 * line // flits for ends in (self.slices, self.sms)))

    # ------------------------------------------------------------------ places

    @cached_property
    def _lines_together(self) -> int:
        return self.interleave_bytes // self.line_bytes

    def slice_of(self, line: int) -> int:
        """The slice of a line."""
        return line // self._lines_together % self.slices

    def set_of(self, line: int) -> int:
        """The set of a line in its slice."""
        together, within = divmod(line, self._lines_together)
        return (together // self.slices * self._lines_together + within) % self.l2_sets

    def bank_and_row(self, line: int) -> tuple[int, int]:
        """The bank and the row of a line in its channel."""
        together, within = divmod(line, self._lines_together)
        share = self.slices_per_channel
        turn, number = divmod(together, self.slices)
        local = (turn * share + number % share) * self._lines_together + within
        row = local // (self.row_bytes // self.line_bytes)
        return row % self.dram_banks, row // self.dram_banks

    @property
    def mesh_rows(self) -> int:
        """Rows of a mesh: as many as its columns need for all nodes."""
        return -(-(self.sms + self.slices) // self.mesh_columns)

    @cached_property
    def nodes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The nodes of the SMs, and those of the slices, which are evenly spaced among them."""
        count = self.sms + self.slices
        slices = tuple((2 * number + 1) * count // (2 * self.slices) for number in range(self.slices))
        return tuple(node for node in range(count) if node not in slices), slices

    # ------------------------------------------------------------------ text

    def with_settings(self, settings: list[str], where: str = "--set") -> "GpuConfig":
        """A copy with each ``field=value`` of the list applied. Fields that the GPU does not have are those of its
        SMs. A field may be named with its part."""
        own = [setting for setting in settings if _is_own(setting)]
        changed = config_text.changes(own, (), GPU_PARAMETERS, where)
        del changed[PIPES]
        config_text.check_names(changed, where, list(GPU_PARAMETERS))
        sm = _changed(self.sm, [setting for setting in settings if not _is_own(setting)], where)
        return _build(self, changed | {_SM: sm}, where)

    @classmethod
    def from_toml(cls, text: str, where: str = "<toml>") -> "GpuConfig":
        """Read a configuration: a table for each part, and ``[sm]`` with the ``preset`` of the SMs and the fields in
        which they differ from it. Fields that are not in the text have the values of `k20x`."""
        table = config_text.read(text, where, GPU_PARAMETERS)
        sm = _sm_of(table.pop(_SM, None), where, table.get("name", cls.name))
        config_text.check_names(table, where, ["name", _SM, *GPU_PARAMETERS])
        return _build(cls(), table | {_SM: sm}, where)

    @classmethod
    def preset(cls, name: str) -> "GpuConfig":
        """A bundled preset by its name, or a configuration file by its path."""
        return cls.from_toml(gpu_text(name), _FILES.origin(name))


Machine = SmConfig | GpuConfig
"""What a workload is timed on: one SM, or a GPU."""


def sm_of(machine: Machine) -> SmConfig:
    """The SM of a machine, or all of its SMs."""
    return machine.sm if isinstance(machine, GpuConfig) else machine


def sms_of(machine: Machine) -> int:
    """The number of SMs of a machine."""
    return machine.sms if isinstance(machine, GpuConfig) else 1


GPU_PARAMETERS = parameters(GpuConfig)
"""The parameters of a GPU around its SMs, by field name."""

_FILES = PresetFiles("gpu_presets", "gpu", "a GPU")


def gpu_presets() -> list[str]:
    """Names of the bundled GPUs."""
    return _FILES.names()


def gpu_text(name: str) -> str:
    """The text of a bundled GPU, or of a file. Raises `ConfigError`."""
    return _FILES.text(name)


def _sm_of(table: object, where: str, name: str) -> SmConfig:
    """The SMs that a table describes, with the name of the GPU. Raises `ConfigError`."""
    if not isinstance(table, dict) or not isinstance(table.get("preset"), str):
        raise ConfigError(f"{where}: [sm] must name the preset of the SMs: preset = \"fermi\"")
    settings = [f"{field}={_toml(value)}" for field, value in table.items() if field != "preset"]
    sm = _changed(SmConfig.preset(table["preset"]), settings, f"{where}: [sm]")
    return dataclasses.replace(sm, name=name)


def _changed(sm: SmConfig, settings: list[str], where: str) -> SmConfig:
    """The SM with settings that mean something in a GPU. Raises `ConfigError`."""
    for setting in settings:
        name = parsed(setting).field
        if name in _OF_ONE_SM:
            raise ConfigError(f"{where}: {name}: it is of a single SM, whose memory has a fixed latency; that of a GPU "
                              "follows from its parts: warploom config --gpu NAME lists their fields")
    return sm.with_settings(settings, where)


def _toml(value: object) -> str:
    """A value as TOML writes it in a setting."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def _is_own(setting: str) -> bool:
    """Whether a setting is one of the GPU and not of its SMs."""
    name = parsed(setting).name
    part, _, short = name.partition(".")
    return name in GPU_PARAMETERS or (part in GPU_PARTS and bool(short))


def _build(base: GpuConfig, changes: dict[str, Any], where: str) -> GpuConfig:
    """A GPU with these fields changed. Raises `ConfigError`, which names their origin."""
    try:
        return dataclasses.replace(base, **changes)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
