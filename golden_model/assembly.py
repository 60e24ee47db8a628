"""Assembles the parts that a configuration names."""

from collections.abc import Callable, Sequence
from functools import partial

from warploom.arch.config import SmConfig
from warploom.arch.layout import powered_rows, rows_per_warp
from warploom.arch.program import Program
from warploom.golden_model.affine.decisions import AffineDecisions
from warploom.golden_model.affine.unit import AffineUnit, Answers
from warploom.golden_model.cached.collector import CachedCollector
from warploom.golden_model.cached.register_file import CachedFile
from warploom.golden_model.check import Checker
from warploom.golden_model.corf.collector import CorfCollector
from warploom.golden_model.corf.register_file import CorfFile
from warploom.golden_model.datapath import Datapath
from warploom.golden_model.front_end.decisions import Decisions
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.instructions import Direct, Instructions
from warploom.golden_model.front_end.order import Order, ProgramOrder
from warploom.golden_model.gpu.fixed_path import FixedPath
from warploom.golden_model.gpu.load_store import LoadStore
from warploom.golden_model.hints.order import HintOrder
from warploom.golden_model.integer import Evaluate
from warploom.golden_model.mascar.owners import OneOwner
from warploom.golden_model.mascar.saturation import Saturation
from warploom.golden_model.memory.memory_pipe import MemoryPipe
from warploom.golden_model.memory.port import LoadStoreUnit
from warploom.golden_model.operands.collector import Collector, asking_of
from warploom.golden_model.operands.plain_collector import PlainCollector
from warploom.golden_model.operands.port import OperandStore
from warploom.golden_model.operands.slots import SlotStore
from warploom.golden_model.operands.windows import WindowStore
from warploom.golden_model.preexecution.order import SearchOrder
from warploom.golden_model.register_file.forms import Plain
from warploom.golden_model.register_file.ports import Form, RegisterFile
from warploom.golden_model.register_file.shared import SharedFile
from warploom.golden_model.register_file.single import SingleFile
from warploom.golden_model.renaming.stage import RenameStage
from warploom.golden_model.trace import Traced


def datapath_of(
    config: SmConfig, program: Program, warps: int, evaluate: Evaluate, uniform_unit: Answers
) -> Datapath:
    """The datapath of a configuration, ready to run a program, of which it never holds more than `warps` at once.
    `uniform_unit` serves the affine unit."""
    stride = rows_per_warp(config, program.registers)
    register_file = _register_file(config, program, stride)
    affine = AffineUnit(config, program.registers, uniform_unit) if config.has_compact_slots else None
    operands = _operand_store(config, program, register_file)
    if config.renames:
        assert isinstance(operands, SlotStore)
        powered = powered_rows(config, program.registers, warps)
        operands = RenameStage(config, operands, register_file.form, stride, powered)
    return Datapath(config, stride, register_file, operands, affine, evaluate)


def decisions_of(
    config: SmConfig, trace: Traced, statics: Sequence[Static], datapath: Datapath, *, saturation: Saturation,
    checker: Checker | None,
) -> Decisions:
    """The decisions that are plugged into the front end of a datapath, whose memory has this saturation."""
    if datapath.affine is None:
        direct = Direct(config, Instructions(statics))
        return OneOwner(config, direct, saturation) if config.gives_priority else direct
    return AffineDecisions(config, trace, statics, datapath.affine, datapath.operands, checker)


def memory_of(config: SmConfig, program: Program) -> LoadStoreUnit:
    """The load/store unit of one SM, whose path has a fixed latency."""
    if config.gives_priority:
        return LoadStore(config, program, FixedPath(config), lambda cycle, line: None)
    return MemoryPipe(config, program)


def order_of(config: SmConfig, program: Program, statics: Sequence[Static]) -> Order:
    """The order in which warps issue."""
    if config.searches:
        return SearchOrder(program, statics, config.schedulers)
    if config.reorders:
        return HintOrder(program, statics, config.schedulers, short_copies=config.has_short_copies)
    return ProgramOrder(statics)


def _register_file(config: SmConfig, program: Program, stride: int) -> RegisterFile:
    if config.has_register_cache:
        return CachedFile(config)
    if config.packs_registers:
        return CorfFile(config, stride, program.hints)
    return SharedFile(config) if config.has_sides else SingleFile(config)


def _operand_store(config: SmConfig, program: Program, register_file: RegisterFile) -> OperandStore:
    if config.has_window:
        return WindowStore(config, register_file, program.registers)
    if config.has_register_cache:
        return SlotStore(config, register_file, CachedCollector)
    if isinstance(register_file, CorfFile):
        return SlotStore(config, register_file, partial(CorfCollector, config))
    return SlotStore(config, register_file, collectors_of(register_file.form))


def collectors_of(form: Form) -> Callable[[int], Collector | PlainCollector]:
    """What makes the collectors of registers in a stored form, by their numbers."""
    return PlainCollector if isinstance(form, Plain) else partial(Collector, form, asking_of(form))
