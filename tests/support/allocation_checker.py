"""Proof, independent of the compiler's analyses, that machine code reads the operands of its IR.

A forward data-flow analysis over all paths tracks, for every location (register, predicate, spill slot), the set of
virtual registers whose current value it holds for certain. Every operand of every instruction must be in a location
that holds it on all paths. A virtual register that no path has written yet is in every location: its value is
undefined. Nothing here uses the compiler's control-flow graph, liveness or interference.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.arch.isa import MEMORY_OPS, MODIFIERS, NO_SLOT, PT, RZ, Instruction, Op
from warploom.arch.modifiers import Access, Cond, Space, Special
from warploom.compiler.allocate import Allocation
from warploom.compiler.emit import Emitted
from warploom.compiler.ir import Function, Imm, Label, Node, Param, VirtualRegister

Place = tuple[str, int]
Anchored = dict[Node | Label | None, list[Node]]

CHANGING = {Special.ACTIVEMASK, Special.CLOCK_LO, Special.CLOCK_HI, Special.GLOBALTIMER_LO, Special.GLOBALTIMER_HI}
"""Special registers that may read differently each time."""


class AllocationError(AssertionError):
    """Machine code that does not match its IR."""


@dataclass(frozen=True)
class Step:
    """A node of the function (None: added by the compiler) and its machine instruction (None: omitted)."""

    node: Node | None
    instruction: Instruction | None
    index: int  # of the instruction, or of the next one if it was omitted


@dataclass
class Facts:
    """The state before a step: the values that each location holds, and the registers not yet written on any path. A
    location that is not listed holds only undefined values."""

    unwritten: int
    places: dict[Place, int] = field(default_factory=dict)

    def held(self, place: Place) -> int:
        return self.places.get(place, self.unwritten)

    def met(self, other: "Facts") -> "Facts":
        both = Facts(self.unwritten & other.unwritten)
        both.places = {p: self.held(p) & other.held(p) for p in self.places.keys() | other.places.keys()}
        return both

    def copy(self) -> "Facts":
        return Facts(self.unwritten, dict(self.places))

    def assign(self, register: int, source: int | None) -> None:
        """The virtual register takes a new value: that of another one, or one that no location holds yet."""
        bit = 1 << register
        for place, held in self.places.items():
            same = source is not None and held >> source & 1
            self.places[place] = held | bit if same else held & ~bit
        undefined = source is not None and self.unwritten >> source & 1
        self.unwritten = self.unwritten | bit if undefined else self.unwritten & ~bit


class Checker:
    """Checks one allocation; `run` returns the number of operands it has proved."""

    def __init__(self, function: Function, allocation: Allocation, emitted: Emitted) -> None:
        self.function, self.code = function, emitted.program.instructions
        self.constants = self._constants()
        self.labels: dict[str, int] = {}
        self.steps: list[Step] = []
        before, after = self._missing({allocation.origins.get(n) for n in allocation.body if isinstance(n, Node)})
        self._leave_out(after.pop(None, []))
        for item in allocation.body:
            node = None if isinstance(item, Label) else allocation.origins.get(item)
            self._leave_out(before.pop(node or item, []))
            if isinstance(item, Label):
                self.labels[item.name] = len(self.steps)
            else:
                at = emitted.index.get(item)
                self.steps.append(Step(node, None if at is None else self.code[at], -1 if at is None else at))
            self._leave_out(after.pop(node or item, []))
        self._number_steps()

    def run(self) -> int:
        """Raise `AllocationError` at the first instruction that is wrong."""
        self._check_order()
        before: dict[int, Facts] = {0: Facts((1 << self.function.count) - 1)}
        waiting, proved = [0], {}
        joins = {*self.labels.values()}
        while waiting:
            at = waiting.pop()
            facts = before[at].copy()
            proved[at] = self._step(self.steps[at], facts)
            while self._successors(at) == [at + 1] and at + 1 not in joins:
                at += 1
                proved[at] = self._step(self.steps[at], facts)
            for successor in self._successors(at):
                met = before[successor].met(facts) if successor in before else facts
                if successor not in before or met != before[successor]:
                    before[successor] = met
                    waiting.append(successor)
        return sum(proved.values())

    # ------------------------------------------------------------ structure

    def _number_steps(self) -> None:
        following, numbered = len(self.code), []
        for step in reversed(self.steps):
            if step.instruction is not None:
                if step.index != following - 1:
                    raise AllocationError(f"instruction {step.index} is out of order")
                following = step.index
            numbered.append(Step(step.node, step.instruction, following))
        if following != 0:
            raise AllocationError("instructions before the first step")
        self.steps = numbered[::-1]

    def _constants(self) -> dict[tuple, int]:
        """For each constant, the mask of the registers that never hold anything else."""
        values: dict[int, set[tuple | None]] = {}
        for node in self._reachable():
            if isinstance(node, Node):
                for register in node.writes:
                    values.setdefault(register.number, set()).add(_constant_of_node(node))
        masks: dict[tuple, int] = {}
        for register, found in values.items():
            if len(found) == 1 and None not in found:
                constant = found.pop()
                masks[constant] = masks.get(constant, 0) | 1 << register
        return masks

    def _reachable(self) -> Iterator[Node | Label]:
        """Reachable nodes and labels of the function, in order."""
        body = self.function.body
        at = {item.name: index for index, item in enumerate(body) if isinstance(item, Label)}
        seen, waiting = set(), [0]
        while waiting:
            index = waiting.pop()
            if index in seen:
                continue
            seen.add(index)
            item = body[index]
            if isinstance(item, Node) and item.op is Op.BRA:
                waiting.append(at[item.target])
            if isinstance(item, Label) or item.guard is not None or item.op not in (Op.BRA, Op.EXIT):
                waiting.append(index + 1)
        return (body[index] for index in sorted(seen))

    def _missing(self, present: set[Node | None]) -> tuple[Anchored, Anchored]:
        """Nodes that the compiler dropped: (copies by the node or label that follows, constants by the one that
        precedes).

        Spill code may be on either side of them. Before a constant is assigned, no location holds it. After a copy is
        assigned, all locations of the source hold the destination. So constants are assigned early and copies late.
        """
        before: Anchored = defaultdict(list)
        after: Anchored = defaultdict(list)
        copies, anchor = [], None
        for item in self._reachable():
            if isinstance(item, Label) or item in present:
                before[item], copies, anchor = copies, [], item
            elif _is_copy(item):
                copies.append(item)
            elif self._only_constant(item):
                after[anchor].append(item)
            else:
                raise AllocationError(f"{item!r} has no instruction")
        return before, after

    def _leave_out(self, nodes: list[Node]) -> None:
        self.steps += [Step(node, None, -1) for node in nodes]

    def _only_constant(self, node: Node) -> bool:
        """True when the register that a node writes never holds anything but one constant."""
        return node.dst is not None and any(mask >> node.dst.number & 1 for mask in self.constants.values())

    def _check_order(self) -> None:
        """Every node is there once and in order; beats are adjacent."""
        wanted = [item for item in self._reachable() if isinstance(item, Node)]
        there = [step.node for step in self.steps if step.node is not None]
        gone = {step.node for step in self.steps if step.instruction is None}
        if len(wanted) != len(there) or [n for n in wanted if n not in gone] != [n for n in there if n not in gone]:
            raise AllocationError("the nodes of the function are not all there, once and in order")
        for first, second in zip(self.steps, self.steps[1:], strict=False):
            latch = first.node is not None and first.node.op is Op.LATCH
            high = second.node is not None and second.node.op is Op.HIGH
            if (latch or high) and (first.node is None or second.node is None or second.index != first.index + 1):
                raise AllocationError(f"instruction {second.index}: something comes between two beats")

    def _successors(self, at: int) -> list[int]:
        node, found = self.steps[at].node, []
        if node is not None and node.op is Op.BRA:
            found.append(self.labels[node.target])
        if node is None or node.guard is not None or node.op not in (Op.BRA, Op.EXIT):
            found.append(at + 1)
        return found

    # ------------------------------------------------------------ one step

    def _step(self, step: Step, facts: Facts) -> int:
        if step.node is None:
            self._added(step.instruction, step.index, facts)
            return 0
        if step.instruction is None:
            self._left_out(step, facts)
            return 0
        self._same_operation(step)
        operands = list(_operands(step.node, step.instruction))
        for register, place in operands:
            if not facts.held(place) >> register.number & 1:
                raise AllocationError(f"instruction {step.index}: {place[0]}{place[1]} does not hold {register} "
                                      f"of {step.node!r} on every path")
        if _is_copy(step.node) and step.node.guard is None:
            facts.assign(step.node.dst.number, step.node.src[0].number)
            facts.places["R", step.instruction.dst] = facts.held(("R", step.instruction.src[0]))
        else:
            self._write(step, facts)
        return len(operands)

    def _write(self, step: Step, facts: Facts) -> None:
        node, instruction = step.node, step.instruction
        results = [(node.dst, ("R", instruction.dst)), (node.pdst, ("P", instruction.pdst))]
        for register, place in results:
            if register is None:
                if place not in (("R", RZ), ("P", PT)):
                    raise AllocationError(f"instruction {step.index} writes {place[0]}{place[1]}, its node nothing")
                continue
            bit = 1 << register.number
            whole = node.guard is None or register.local or facts.held(place) & bit
            facts.assign(register.number, None)
            facts.places[place] = facts.unwritten | (bit if whole else 0)

    def _left_out(self, step: Step, facts: Facts) -> None:
        """A node without instruction: a copy inside one location, a constant recomputed later, or a branch to the
        next."""
        node = step.node
        if _is_copy(node):
            kept = dict(facts.places)
            facts.assign(node.dst.number, node.src[0].number)
            if node.guard is not None and not node.dst.local:
                bit = 1 << node.dst.number
                facts.places = {p: held if kept[p] & bit else held & ~bit for p, held in facts.places.items()}
        elif self._only_constant(node):
            facts.assign(node.dst.number, None)
        elif node.op is Op.BRA:
            label = self.labels[node.target]
            if label >= len(self.steps) or self.steps[label].index != step.index:
                raise AllocationError(f"the branch {node!r} is left out and does not lead to the next instruction")
        else:
            raise AllocationError(f"{node!r} has no instruction")

    def _added(self, instruction: Instruction, index: int, facts: Facts) -> None:
        """Spill code: a move between a register and a slot or bit, or a recomputed constant."""
        op, src = instruction.op, instruction.src
        constant = _constant_of_instruction(instruction)
        if instruction.guard != PT:
            raise AllocationError(f"instruction {index}: guarded spill code")
        if constant is not None:
            facts.places["R", instruction.dst] = facts.unwritten | self.constants.get(constant, 0)
            return
        slot, in_slot = ("slot", instruction.imm), (instruction.space, instruction.access) == (Space.LOCAL, Access.B32)
        if op is Op.LD and in_slot and src == (RZ, RZ, RZ):
            source, target = slot, ("R", instruction.dst)
        elif op is Op.ST and in_slot and src[:2] == (RZ, RZ):
            source, target = ("R", src[2]), slot
        elif op is Op.ISETP and instruction.cond is Cond.NE and src[1:] == (RZ, RZ) and instruction.psrc == PT:
            source, target = ("R", src[0]), ("P", instruction.pdst)
        elif op is Op.SEL and (instruction.imm_slot, instruction.imm, src[1]) == (0, 1, RZ):
            source, target = ("P", instruction.psrc), ("R", instruction.dst)
        else:
            raise AllocationError(f"instruction {index}: {op.name} is no spill code")
        if slot in (source, target) and (slot[1] < self.function.kernel.local_bytes or slot[1] % 4):
            raise AllocationError(f"instruction {index}: spill slot {slot[1]} is not the compiler's")
        facts.places[target] = facts.held(source)

    def _same_operation(self, step: Step) -> None:
        node, instruction = step.node, step.instruction
        wanted = {name: node.modifiers.get(name, getattr(Instruction, name)) for name in MODIFIERS.get(node.op, ())}
        if node.op is Op.BRA:
            label = self.labels[node.target]
            wanted = {"imm": self.steps[label].index}
        elif node.op in MEMORY_OPS or node.imm:
            wanted["imm"] = node.imm & 0xFFFFFFFF
        wanted |= {"op": node.op, "guard_not": node.guard_not, "psrc_not": node.psrc_not}
        for name, value in wanted.items():
            if getattr(instruction, name) != value:
                raise AllocationError(f"instruction {step.index}: {name} is {getattr(instruction, name)}, not {value}")


def _is_copy(node: Node) -> bool:
    return node.op is Op.MOV and isinstance(node.src[0], VirtualRegister)


def _constant_of_node(node: Node) -> tuple | None:
    """The constant result of an unguarded node, if it is constant; zero is None in IR and RZ in machine code."""
    if node.guard is not None or node.op not in (Op.MOV, Op.S2R) or _is_copy(node):
        return None
    if node.op is Op.S2R:
        special = node.modifiers.get("special", Instruction.special)
        return None if special in CHANGING else ("special", special)
    source = node.src[0]
    return ("param", source.offset) if isinstance(source, Param) else ("imm", source.value if source else 0)


def _constant_of_instruction(instruction: Instruction) -> tuple | None:
    if instruction.op is Op.S2R:
        return ("special", instruction.special)
    if instruction.op is not Op.MOV or (instruction.imm_slot == NO_SLOT and instruction.src[0] != RZ):
        return None
    return ("param" if instruction.param else "imm", instruction.imm)


def _operands(node: Node, instruction: Instruction) -> Iterator[tuple[VirtualRegister, Place]]:
    """Each register that a node reads, with the location from which its instruction reads it; other operands must be
    equal."""
    kind, none = ("P", PT) if node.op is Op.PLOP3 else ("R", RZ)
    pairs = [(operand, (kind, instruction.src[slot])) for slot, operand in enumerate(node.src)]
    pairs += [(node.guard, ("P", instruction.guard)), (node.psrc, ("P", instruction.psrc))]
    for slot, (operand, place) in enumerate(pairs):
        if isinstance(operand, VirtualRegister):
            if place in (("R", RZ), ("P", PT)) or (slot < 3 and slot == instruction.imm_slot):
                raise AllocationError(f"{node!r} reads {operand}, its instruction nothing")
            yield operand, place
        elif isinstance(operand, Imm | Param):
            value = operand.value if isinstance(operand, Imm) else operand.offset
            if (instruction.imm_slot, instruction.imm, instruction.param) != (slot, value, isinstance(operand, Param)):
                raise AllocationError(f"{node!r} has another constant in its instruction")
        elif place[1] not in (none, PT):
            raise AllocationError(f"{node!r} reads nothing in slot {slot}, its instruction {place[0]}{place[1]}")
