"""What a bench of the control processor checks in each cycle, and which situations it must have seen."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from warploom.arch.encoding import HEADER
from warploom.arch.fg_simt.micro import MICRO_FIELDS, Kind
from warploom.arch.fg_simt.sizes import Cause, status
from warploom.arch.fields import unpack, width
from warploom.arch.isa import PT, Op
from warploom.golden_model.fg_simt.micro_bits import decoded
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus
from warploom.tb.fg_simt.control_traces import Cycle
from warploom.tb.fg_simt.issued import issued, looked_at
from warploom.tb.observation import Probe

EVENTS = ("stop", "discard", "memory_reset", "over")

POINTS = (*(cause.name for cause in Cause), "no warp", "next warp", "walk", "fault during a walk", "no room",
          "request that was not taken at once", "answer with a fault", "answer that ends a kernel", "mask with a fault",
          "fault while it waits for a mask", "fault behind the last warp", "fence", "guard that never holds",
          "vote of all lanes", "shared load of an instruction that is not executed", "barrier that waits for stores",
          "branch of all lanes", "change of fragments with an instruction", "faults of both in one cycle",
          "instruction that is taken in vain")


class ControlCheck:
    """All outputs of a cycle are those of a recording."""

    def __init__(self, ports: Ports, checker: Checker, observed: Sequence[str]) -> None:
        self._codecs, self._checker = ports.codecs, checker
        self._probe = Probe(ports.codecs["probe"], observed)
        self._shown = [0] * len(observed)
        self._now = self._before = Cycle({}, {}, self._shown)
        self.coverage = Coverage(*POINTS)
        self._runs = self._collects = self._stopped = False
        self._reported: int | None = None  # the status by the memory unit's fault in the cycle of the last stop

    def stimuli(self, cycles: Iterable[Cycle]) -> Iterator[Stimulus]:
        """The inputs of a recording."""
        for self._now in cycles:
            yield self._now.inputs

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        equal, outputs = self._checker.equal, self._now.outputs
        for name, shown, value in zip(self._probe.names, self._probe.unpack(seen["probe"]).values(), self._shown,
                                      strict=True):
            equal(name, shown, value)
        for name in EVENTS:
            equal(name, seen[name], outputs.get(name, 0))
        equal("redirect", seen["target"] if seen["redirect"] else None, outputs.get("redirect"))
        if "stop" not in outputs:
            equal("take", seen["take"], outputs.get("take", 0))
        request = self._codecs["request__payload"].unpack(seen["request__payload"])
        equal("request", request["address"] if seen["request__valid"] else None, outputs.get("request"))
        equal("answers are taken at once", seen["response__ready"], 1)
        sent = looked_at(self._codecs["sent__payload"].unpack(seen["sent__payload"])) if seen["sent__valid"] else None
        equal("sent", sent, issued(decoded(outputs["sent"])) if "sent" in outputs else None)
        if "over" in outputs:
            equal("status", seen["status"], outputs["status"])
        self._check_position(seen)
        self._count(seen)
        self._shown, self._before = self._now.observed, self._now

    def _check_position(self, seen: Observation) -> None:
        """The walk, as long as there is a warp."""
        codec, walk = self._codecs["position"], self._now.outputs.get("position")
        mask = self._shown[self._probe.names.index("awfr_mask")]
        if self._runs and (walk is not None or mask):
            self._checker.equal("position", seen["position"] if codec.field(seen["position"], "valid") else None,
                                None if walk is None else codec.pack(walk))
        self._runs = bool(self._runs or seen["start"]) and not seen["over"]

    # ------------------------------------------------------------ coverage

    def _count(self, seen: Observation) -> None:
        """The situations of this cycle."""
        hit, outputs, before = self.coverage.hit, self._now.outputs, self._before
        faulty = "stop" in outputs and seen["fault"] != 0
        if "stop" in outputs:
            self._reported = status(**self._codecs["fault"].unpack(seen["fault"])) if faulty else None
        walks, mask = "position" in outputs, self._shown[1]
        hit("instruction that is taken in vain", "take" in outputs and "redirect" in outputs)
        if "over" in outputs:
            hit(Cause(outputs["status"] >> 24).name)
            hit("faults of both in one cycle", self._reported is not None and self._reported != outputs["status"])
            hit("no warp", seen["start"])
        hit("next warp", outputs.get("redirect") == 0 and not seen["start"])
        hit("walk", walks)
        hit("fault during a walk", walks and faulty)
        hit("request that was not taken at once", "request" in outputs and not before.inputs["request__ready"])
        hit("answer with a fault", seen["response__valid"] and faulty)
        hit("answer that ends a kernel", seen["response__valid"] and self._stopped and "over" in outputs)
        hit("mask with a fault", seen["branch__valid"] and faulty)
        hit("fault while it waits for a mask", self._collects and faulty and not seen["branch__valid"])
        hit("fault behind the last warp", faulty and not mask)
        hit("fence", not mask and seen["quiet"] and seen["in_flight"] and not self._stopped)
        self._stopped = "stop" in outputs or (self._stopped and "over" not in outputs)
        self._collects = (self._collects or _kind(outputs) is Kind.COLLECT) and not (seen["branch__valid"] or faulty)
        if self._now.decoded is not None and not self._stopped and mask:
            self._count_decoded(unpack(HEADER, self._now.decoded & (1 << width(HEADER)) - 1))

    def _count_decoded(self, i: dict[str, int]) -> None:
        """An instruction that could be executed."""
        hit, inputs, outputs = self.coverage.hit, self._now.inputs, self._now.outputs
        never, takes = i["guard"] == PT and i["guard_not"], self._now.is_over
        waits = not outputs.keys() - {"take"}
        hit("no room", not inputs["room"] and waits)
        hit("guard that never holds", never and takes)
        hit("shared load of an instruction that is not executed", never and takes and i["param"])
        hit("vote of all lanes", i["op"] == Op.VOTE and i["psrc"] == PT and takes)
        hit("barrier that waits for stores",
            i["op"] in (Op.BAR, Op.MEMBAR) and inputs["quiet"] and inputs["in_flight"] and waits)
        hit("branch of all lanes", i["op"] == Op.BRA and i["guard"] == PT and takes and "redirect" in outputs)
        hit("change of fragments with an instruction", "redirect" in outputs and not takes and not inputs["start"])


def _kind(outputs: dict[str, Any]) -> Kind | None:
    """The kind of what is sent."""
    if "sent" not in outputs:
        return None
    return Kind(unpack(MICRO_FIELDS, outputs["sent"] & (1 << width(MICRO_FIELDS)) - 1)["kind"])
