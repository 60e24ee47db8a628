# amaranth: UnusedElaboratable=no
"""Dispatch stage: the registers between collectors and pipes, and the operand paths behind them."""

from collections.abc import Iterable, Sequence
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warploom.arch.config import COLUMNS, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl import ports
from warploom.rtl.byte_order import decoded
from warploom.rtl.dispatch import Dispatcher
from warploom.rtl.gating.trivial import TRIVIAL, TrivialDetector, decode_trivial
from warploom.rtl.interfaces import DECODED, ENCODING, PREPARED_SLOTS, SLOTS, column_masks, held_layout
from warploom.rtl.lane_control import CONTROL, decode
from warploom.rtl.observation import Shown
from warploom.rtl.operands.expand import Expander
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share

OPERANDS = "abc"


class DispatchStage(wiring.Component):
    """A dispatch port: selects one of the instructions that are offered for its pipes, takes it with its operands, and
    shows it one cycle later.

    The operand registers hold words in the collectors' form. Behind them plain words are restored, unless windows have
    done so, compact slots are expanded, and with a zero mask trivial lanes are detected.

    Parameters
    ----------
    config : the machine.
    port : the number of the dispatch port.
    probe : add the ports of a bench.

    Members
    -------
    offer, address : the offers of the collectors whose instructions may leave here (`SmConfig.holders_of`) and, for
        memory, of each address slot (`warploom.rtl.ports.offer`).
    slots : with compact slots, those of each offered instruction, those of address slots last.
    older, credit_sfu, ..., queued_sp, ... : inputs of the dispatcher: ages and states of pipes
        (`warploom.rtl.dispatch.Dispatcher`).
    dispatch : the instruction that was selected in the previous cycle (`warploom.rtl.ports.dispatch`).
    operand_columns : with a probe, for each operand register the columns that take an operand at the end of the cycle.
    """

    def __init__(self, *, config: SmConfig, port: int = 0, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._name = list(config.dispatch_ports)[port]
        self.dispatcher = Dispatcher(config=config, port=port)
        self.numbers = config.holders_of(port)
        collectors = sum(number < config.collectors for number in self.numbers)
        addresses = len(self.numbers) - collectors
        members = self.dispatcher.signature.members
        self.known = [name for name in members if name.startswith(("older", "credit_", "queued_"))]
        super().__init__({
            "offer": In(ports.offer(config)).array(collectors),
            **({"address": In(ports.offer(config, stores=False)).array(addresses)} if addresses else {}),
            **({"slots": In(PREPARED_SLOTS).array(len(self.numbers))} if config.has_compact_slots else {}),
            **{name: members[name] for name in self.known},
            "dispatch": Out(ports.dispatch(config)),
            **({"operand_columns": Out(column_masks(SLOTS))} if probe else {}),
        })
        form = form_of(config)
        self.operand_paths: list[Any] = [None] * SLOTS if config.has_window else [form.restorer() for _ in OPERANDS]
        self.expanders = [Expander() for _ in OPERANDS] if config.has_compact_slots else []
        self._sp_pipes = len(ports.sp_pipes(config))
        serves_lanes = any(pipe.dispatch_port == port for pipe in ports.sp_pipes(config))
        self.trivial_detector = TrivialDetector() if config.has_zero_mask and serves_lanes else None
        self.holders = [*self.offer, *(self.address if addresses else [])]
        self._select = self.dispatcher.select
        self.compact = Signal(PREPARED_SLOTS, name="sent_slots", reset_less=True)  # beside the operand registers

    def elaborate(self, platform: object) -> Module:
        m = Module()
        module = self._name.replace("dispatch", "dispatcher")
        m.submodules.dispatcher = share(platform, module, self.dispatcher)
        self._connect_dispatcher(m)
        units = {"operand_path": filter(None, self.operand_paths), "expander": self.expanders}
        for name, each in units.items():
            for slot, unit in enumerate(each):
                m.submodules[f"{name}_{slot}"] = share(platform, module_name(type(unit).__name__), unit, clocked=False)
        taken = self._take_instruction(m)
        self._take_compact(m)
        operands = [self._show_operand(m, slot) for slot in range(SLOTS)]
        if self.trivial_detector is not None:
            m.submodules.trivial_detector = share(platform, "trivial_detector", self.trivial_detector, clocked=False)
            self._find_trivial(m, self.trivial_detector, taken, operands)
        return m

    def _connect_dispatcher(self, m: Module) -> None:
        """Connect the offers to the dispatcher, and its selection."""
        dispatcher = self.dispatcher
        m.d.comb += [getattr(dispatcher, name).eq(getattr(self, name)) for name in self.known]
        for h, holder in enumerate(self.holders):
            m.d.comb += [
                dispatcher.busy[h].eq(holder.busy),
                dispatcher.ready[h].eq(holder.ready),
                dispatcher.pipe[h].eq(holder.held.pipe),
                dispatcher.timing[h].eq(holder.held.timing),
                holder.dispatched.eq(self._select[h]),
            ]
            if dispatcher.is_shared:
                m.d.comb += dispatcher.scheduler[h].eq(holder.held.warp[: exact_log2(self._config.schedulers)])

    def observe(self) -> Shown:
        """Whether an instruction is selected, its holder, and its tag."""
        selected = Cat(holder.dispatched for holder in self.holders)
        return {
            "valid": selected.any(),
            "collector": merge(selected, self.numbers),
            "tag": merge(selected, [holder.held.tag for holder in self.holders]),
        }

    def _take_instruction(self, m: Module) -> dict[str, Signal]:
        """The instruction, and the control signals of its operation, decoded while it is selected; its registers."""
        sent = self.dispatch.sent
        valid = Signal(name="dispatch_valid")
        control = Signal(CONTROL, name="dispatch_control", reset_less=True)
        m.d.sync += [valid.eq(self._select.any()), control.eq(decode(m, self._chosen("op"), self._chosen("modifiers")))]
        taken = {name: self._taken(m, name, [holder.held[name] for holder in self.holders])
                 for name, _ in held_layout(self._config)}
        taken["collector"] = self._taken(m, "collector", self.numbers)
        m.d.comb += [
            sent.valid.eq(valid),
            self.dispatch.control.eq(control),
            *(sent.payload[name].eq(register) for name, register in taken.items()),
        ]
        return taken

    def _take_compact(self, m: Module) -> None:
        if not self.expanders:
            return
        m.d.sync += self.compact.eq(self._of_selected([slots.as_value() for slots in self.slots]))
        m.d.comb += [expander.value.eq(value)
                     for expander, value in zip(self.expanders, self.compact["values"], strict=True)]

    def _show_operand(self, m: Module, slot: int) -> tuple[Value, Value]:
        """Drive an operand. Returns its word, and its lanes that are known to be zero."""
        name = OPERANDS[slot]
        word, path = self._operand_register(m, slot), self.operand_paths[slot]
        known = Cat(word.word_select(lane, 32) == 0 for lane in range(LANES))
        if path is not None:
            m.d.comb += path.word.eq(word)
            if self._config.has_sides:
                m.d.comb += path.encoding.eq(self._take_encoding(m, slot))
            if self._config.has_zero_mask:
                late = [offer.late[slot] for offer in self.offer]
                m.d.comb += path.zero.eq(self._taken(m, f"{name}_late", late))
                known = path.known
            word = path.operand
        if self.expanders:
            compact = self.compact.compact[slot]
            word, known = Mux(compact, self.expanders[slot].word, word), Mux(compact, 0, known)
        m.d.comb += self.dispatch.sent.payload[name].eq(word)
        return word, known

    def _take_encoding(self, m: Module, slot: int) -> Signal:
        """The register beside an operand register with its encoding, decoded before it: the path behind is long."""
        chosen = self._of_selected([offer.early[slot] for offer in self.offer])
        register = Signal(DECODED, name=f"{OPERANDS[slot]}_encoding", reset_less=True)
        m.d.sync += register.eq(decoded(ENCODING(chosen)))
        return register

    def _operand_register(self, m: Module, slot: int) -> Signal:
        """The register in front of an operand path; with gating it takes needed columns and holds the others."""
        name, operands = OPERANDS[slot], [offer.operands[slot] for offer in self.offer]
        if self._with_probe:
            m.d.comb += self.operand_columns[slot].eq(self._columns(slot))
        if not self._config.gates_columns:
            return self._taken(m, name, operands)
        operand, enables = Signal(WARP_BITS, name=f"chosen_{name}"), Signal(COLUMNS, name=f"enables_{name}")
        register = Signal(WARP_BITS, name=f"dispatch_{name}", reset_less=True)
        m.d.comb += [operand.eq(self._of_selected(operands)), enables.eq(self._columns(slot))]
        for column, enable in enumerate(enables):
            with m.If(enable):
                m.d.sync += register.word_select(column, 32).eq(operand.word_select(column, 32))
        return register

    def _columns(self, slot: int) -> Value:
        """The columns of an operand register that take an operand at the end of the cycle."""
        if not self._config.gates_columns:
            return self._select.any().replicate(COLUMNS)
        return merge(self._select, [holder.needed[slot] for holder in self.holders])

    def _find_trivial(self, m: Module, detector: TrivialDetector, taken: dict[str, Signal],
                      operands: Iterable[tuple[Value, Value]]) -> None:
        """Find the trivial lanes, from known zeros."""
        rule = Signal(TRIVIAL, name="dispatch_rule", reset_less=True)
        chosen = [self._chosen(name) for name in ("op", "modifiers", "pipe")]
        m.d.sync += rule.eq(decode_trivial(m, *chosen, self._sp_pipes))
        m.d.comb += [
            detector.rule.eq(rule),
            detector.pred.eq(taken["pred"]),
            detector.lanes.eq(taken["lanes"]),
            self.dispatch.sent.payload.trivial.eq(detector.trivial),
        ]
        for slot, (word, known) in enumerate(operands):
            m.d.comb += [getattr(detector, OPERANDS[slot]).eq(word), detector.known[slot].eq(known)]

    def _chosen(self, name: str) -> Value:
        """A field of the instruction selected in this cycle."""
        return merge(self._select, [holder.held[name] for holder in self.holders])

    def _of_selected(self, values: Sequence[ValueLike]) -> Value:
        """A value of the holder selected in this cycle. Address slots may be omitted, as they come last."""
        return merge(self._select[: len(values)], values)

    def _taken(self, m: Module, name: str, values: Sequence[ValueLike]) -> Signal:
        """A register that takes a value of the selected holder."""
        chosen = self._of_selected(values)
        register = Signal(chosen.shape(), name=f"dispatch_{name}", reset_less=True)
        m.d.sync += register.eq(chosen)
        return register
