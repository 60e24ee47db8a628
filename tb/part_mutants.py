# amaranth: UnusedElaboratable=no
"""Planted bugs in the wiring inside register file and operand store, which the benches of these parts must catch."""

from typing import Any

from amaranth import Cat, Module

from warploom.arch.mechanisms.baseline import FAST
from warploom.rtl.operands.store import OperandStore
from warploom.rtl.register_file.banks import Banks
from warploom.rtl.register_file.register_file import RegisterFile
from warploom.tb.mutants import Mutant, miswired

REGISTER_FILE, STORE = "warploom.tb.register_file.test_register_file", "warploom.tb.operands.test_store"
BANKS = "warploom.tb.register_file.test_banks"
INTERLEAVED = ("coalescing=on", "alignment=write", "gating=cross_lane")
SCARCE = ("pipes.sfu.credits=3", "pipes.mem.credits=2")


def _crossed(register_file: Any, m: Module) -> None:
    """SFU and MEM get each other's grants."""
    grant = register_file.banks.write.grant
    m.d.comb += register_file.writeback.write.grant.eq(Cat(grant[0], grant[2], grant[1]))


def _overheard(register_file: Any, m: Module) -> None:
    """Collector 1 sees what collector 0 gets."""
    m.d.comb += register_file.read[1].word.eq(register_file.banks.read[0].word)


def _sideless(table: Any, m: Module) -> None:
    """Late metadata are looked up on the side that the number tells."""
    m.d.comb += table.groups[0]["late"].lookup.address.eq(table.lookup[0].address)


def _deaf(table: Any, m: Module) -> None:
    """The table is not told what MEM writes."""
    m.d.comb += [part.renewal[-1].enable.eq(0) for parts in table.groups for part in parts.values()]


def _lost(store: Any, m: Module) -> None:
    """Collector 1 listens to the port of collector 0."""
    m.d.comb += store.collectors.read[1].word.eq(store.read[0].word)


def _ageless(store: Any, m: Module) -> None:
    """The age matrix is not told who takes an instruction."""
    m.d.comb += store.ages.take.eq(0)


def _exchanged(store: Any, m: Module) -> None:
    """The late metadata of the second and the third source are taken for each other's."""
    first, second, third, destination = (known.as_value() for known in store.lookup[0].late)
    m.d.comb += store.collectors.instruction[0].late.eq(Cat(first, third, second, destination))


def _swapped(banks: Any, m: Module) -> None:
    """Bank 1 takes the columns that are asked of bank 0."""
    first, second, *_ = banks.access.banks
    m.d.comb += second.columns.eq(first.columns)


def _misrouted(banks: Any, m: Module) -> None:
    """The crossbar brings what bank 0 reads from bank 1, too."""
    m.d.comb += banks.access.crossbar.read_data[1].eq(banks.access.banks[0].read_data)


def _impatient(collectors: Any, m: Module) -> None:
    """A collector counts as free as soon as its instruction is ready."""
    m.d.comb += collectors.claims.busy.eq(Cat(offer.busy & ~offer.ready for offer in collectors.offer))


MUTANTS = (
    Mutant("Banks", BANKS, "takes one bank's word for another's", miswired("", _misrouted, Banks)),
    Mutant("Banks", BANKS, "enables the columns of another bank", miswired("", _swapped, Banks),
           ("coalescing=on", "gating=active")),
    Mutant("RegisterFile", REGISTER_FILE, "crosses two grants", miswired("", _crossed, RegisterFile)),
    Mutant("RegisterFile", REGISTER_FILE, "brings a word to another collector", miswired("", _overheard, RegisterFile)),
    Mutant("RegisterFile", REGISTER_FILE, "looks late metadata up on the wrong side",
           miswired("metadata_table", _sideless, RegisterFile), INTERLEAVED),
    Mutant("RegisterFile", REGISTER_FILE, "forgets what MEM writes", miswired("metadata_table", _deaf, RegisterFile),
           INTERLEAVED),
    Mutant("OperandStore", STORE, "connects an operand wrongly", miswired("", _lost, OperandStore), SCARCE),
    Mutant("OperandStore", STORE, "does not know who is oldest", miswired("", _ageless, OperandStore), SCARCE),
    Mutant("OperandStore", STORE, "crosses two zero masks", miswired("", _exchanged, OperandStore),
           (*INTERLEAVED, *SCARCE)),
    Mutant("OperandStore", STORE, "overwrites an instruction that is ready",
           miswired("collectors", _impatient, OperandStore), (*FAST, *SCARCE)),
)
