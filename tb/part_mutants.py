# amaranth: UnusedElaboratable=no
"""Planted bugs in the wiring inside register file and operand store, which the benches of these parts must catch."""

from functools import partial
from typing import Any

from amaranth import Cat, Const, Module, Signal

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.baseline import FAST, PAIRS, SETS_BY_PIPE
from warploom.rtl.operands.claims import CollectorClaims
from warploom.rtl.operands.store import OperandStore
from warploom.rtl.register_file.banks import Banks
from warploom.rtl.register_file.register_file import RegisterFile
from warploom.tb.mutants import Mutant, Tampered, crossed_grants, miswired
from warploom.tb.operands.test_store import TWO_DISPATCH_PORTS

REGISTER_FILE, STORE = "warploom.tb.register_file.test_register_file", "warploom.tb.operands.test_store"
BANKS = "warploom.tb.register_file.test_banks"
INTERLEAVED = ("coalescing=on", "alignment=write", "gating=cross_lane")
SCARCE = ("pipes.sfu.credits=3", "pipes.mem.credits=2")


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


def exchanged_late(store: Any, m: Module) -> None:
    """The late metadata of the second and the third source are taken for each other's."""
    first, second, third, destination = (known.as_value() for known in store.lookup[0].late)
    m.d.comb += store.collectors.instruction[0].late.eq(Cat(first, third, second, destination))


def _foreign(table: Any, m: Module) -> None:
    """Port 0 gets the early metadata that port 1 looks up."""
    m.d.comb += table.lookup[0].early.eq(table.groups[1]["early"].lookup.found)


def _copied(table: Any, m: Module) -> None:
    """The second of a pair gets the early metadata of the first."""
    m.d.comb += table.lookup[1].early.eq(table.lookup[0].early)


def _mistaken(collectors: Any, m: Module) -> None:
    """The number of the first port is taken for that of an issue input."""
    m.d.comb += [claims.first.eq(collectors.first_port) for claims in collectors.claims]


def _shared(table: Any, m: Module) -> None:
    """What is written in one group is written in all."""
    m.d.comb += [inner.enable.eq(outer.enable) for parts in table.groups for part in parts.values()
                 for inner, outer in zip(part.renewal, table.renewal, strict=True)]


def _forgetful(collectors: Any, m: Module) -> None:
    """Late metadata are taken from port 0, whichever port a collector serves."""
    m.d.comb += [collector.instruction.late.eq(collectors.instruction[0].late) for collector in collectors.collectors]


def _swapped(banks: Any, m: Module) -> None:
    """Bank 1 takes the columns that are asked of bank 0."""
    first, second, *_ = banks.access.banks
    m.d.comb += second.columns.eq(first.columns)


def _misrouted(banks: Any, m: Module) -> None:
    """The crossbar brings what bank 0 reads from bank 1, too."""
    m.d.comb += banks.access.crossbar.read_data[1].eq(banks.access.banks[0].read_data)


def _impatient(collectors: Any, m: Module) -> None:
    """A collector counts as free as soon as its instruction is ready."""
    m.d.comb += collectors.claims[0].busy.eq(Cat(offer.busy & ~offer.ready for offer in collectors.offer))


def _general(collectors: Any, m: Module) -> None:
    """Every instruction claims a general collector, too."""
    m.d.comb += collectors.claims[0].claim.eq(collectors.valid)


def _near_sighted(collectors: Any, m: Module) -> None:
    """A slot sees only its neighbour, so the third requests what the first does."""
    m.d.comb += [collectors.plans[0].requests[2].eq(collectors.instruction[0].issue.reads[2]),
                 collectors.plans[0].repeats[2][0].eq(0)]


def _dazzled(collectors: Any, m: Module) -> None:
    """Every immediate counts as not zero."""
    m.d.comb += collectors.plans[0].nonzero.eq(collectors.plans[0].immediate)


def _one_sided(departures: Any, m: Module) -> None:
    """Only what the last port dispatches leaves its collector."""
    m.d.comb += departures.dispatched.eq(departures.selected[-1])


class Greedy(CollectorClaims):
    """Each port claims as if it were alone."""

    def _before(self, m: Module) -> list[Signal]:
        return [Signal(name=f"before_{port}") for port in range(self._ports)]


def _claims(kind: type[CollectorClaims], config: SmConfig) -> CollectorClaims:
    return kind(collectors=config.collectors, ports=config.issue_ports)


CLAIMS, FOUR_PORTS = "warploom.tb.operands.test_claims", ("schedulers=4", "issue_ports=4", "collectors=5")
TWO_PORTS = ("schedulers=2", "issue_ports=2")

MUTANTS = (
    Mutant("CollectorClaims", CLAIMS, "gives a collector to two ports",
           partial(_claims, Greedy), FOUR_PORTS),
    Mutant("CollectorClaims", CLAIMS, "ignores the claim order",
           lambda c: Tampered(_claims(CollectorClaims, c), lambda o, m: {"first": Const(0, 2)}), FOUR_PORTS),
    Mutant("RegisterFile", REGISTER_FILE, "looks up in the table of another port",
           miswired("metadata_table", _foreign, RegisterFile), (*INTERLEAVED, *TWO_PORTS)),
    Mutant("RegisterFile", REGISTER_FILE, "writes the tables of all ports",
           miswired("metadata_table", _shared, RegisterFile), (*INTERLEAVED, *TWO_PORTS)),
    Mutant("RegisterFile", REGISTER_FILE, "looks up the first of a pair for the second",
           miswired("metadata_table", _copied, RegisterFile), (*INTERLEAVED, *PAIRS)),
    Mutant("OperandStore", STORE, "counts the inputs of a pair as ports",
           miswired("collectors", _mistaken, OperandStore), (*INTERLEAVED, *SCARCE, *PAIRS)),
    Mutant("OperandStore", STORE, "takes zero masks from another port",
           miswired("collectors", _forgetful, OperandStore), (*INTERLEAVED, *SCARCE, *FOUR_PORTS)),
    Mutant("Banks", BANKS, "takes one bank's word for another's", miswired("", _misrouted, Banks)),
    Mutant("Banks", BANKS, "enables the columns of another bank", miswired("", _swapped, Banks),
           ("coalescing=on", "gating=active")),
    Mutant("RegisterFile", REGISTER_FILE, "crosses two grants", miswired("", crossed_grants, RegisterFile)),
    Mutant("RegisterFile", REGISTER_FILE, "brings a word to another collector", miswired("", _overheard, RegisterFile)),
    Mutant("RegisterFile", REGISTER_FILE, "looks late metadata up on the wrong side",
           miswired("metadata_table", _sideless, RegisterFile), INTERLEAVED),
    Mutant("RegisterFile", REGISTER_FILE, "forgets what MEM writes", miswired("metadata_table", _deaf, RegisterFile),
           INTERLEAVED),
    Mutant("OperandStore", STORE, "connects an operand wrongly", miswired("", _lost, OperandStore), SCARCE),
    Mutant("OperandStore", STORE, "reads a register twice for one instruction",
           miswired("collectors", _near_sighted, OperandStore), SCARCE),
    Mutant("OperandStore", STORE, "does not know who is oldest", miswired("", _ageless, OperandStore), SCARCE),
    Mutant("OperandStore", STORE, "crosses two zero masks", miswired("", exchanged_late, OperandStore),
           (*INTERLEAVED, *SCARCE)),
    Mutant("OperandStore", STORE, "takes an immediate zero for another number",
           miswired("collectors", _dazzled, OperandStore), (*INTERLEAVED, *SCARCE)),
    Mutant("OperandStore", STORE, "keeps what another port dispatches",
           miswired("departures", _one_sided, OperandStore), (*SCARCE, *TWO_DISPATCH_PORTS)),
    Mutant("OperandStore", STORE, "lets loads take general collectors", miswired("collectors", _general, OperandStore),
           (*SCARCE, *TWO_PORTS, *SETS_BY_PIPE)),
    Mutant("OperandStore", STORE, "overwrites an instruction that is ready",
           miswired("collectors", _impatient, OperandStore), (*FAST, *SCARCE)),
)
