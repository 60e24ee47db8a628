"""docs/combination.md."""

from collections.abc import Iterator

from support.committed import record

from claims import Claim, Within
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.evaluation.energy.costs import collector_words
from warploom.evaluation.hardware.storage import FLIP_FLOP_UM2
from warploom.synth.sram import Macro

PAGE = "docs/combination.md"


def claims() -> Iterator[Claim]:
    yield from ratios()
    yield from windows()
    yield from logic()
    yield from two()


def ratio(quantity: str, *mechanisms: str) -> float:
    return record("combination", "combinations", combination=" + ".join(mechanisms))[quantity]


def energy(*mechanisms: str) -> dict[str, float]:
    return record("combination", "energy", setting=" + ".join(mechanisms))


def ratios() -> Iterator[Claim]:
    both = "bypassing", "affine"
    yield ("{} of the baseline's where {} is expected", ratio("accesses", *both), ratio("accesses_expected", *both))
    yield ("in energy** ({}, expected {})", ratio("energy", "gating", "affine"),
           ratio("energy_expected", "gating", "affine"))
    yield ("Together ({}) they are worse than gating alone ({})", ratio("energy", "coalescing", "gating"),
           ratio("energy", "gating"))
    yield "pays for its logic ({} % of the baseline's energy)", energy("coalescing")["added"]["coalescing logic"]
    yield ("({} together, {} and {} alone)", ratio("energy", "coalescing", "bypassing"),
           ratio("energy", "bypassing"), ratio("energy", "coalescing"))
    yield ("bypassing ({}) and the affine unit ({}) together give {} where {} is expected",
           ratio("ipc", "bypassing"), ratio("ipc", "affine"), ratio("ipc", *both), ratio("ipc_expected", *both))
    late = [ratio("ipc", "gating", "bypassing"), ratio("ipc", "gating", *both)]
    soon = [ratio("ipc", "bypassing"), ratio("ipc", *both)]
    yield "({} and {} instead of {} and {})", *late, *soon
    costs = [100 * (1 - few / many) for few, many in zip(late, soon, strict=True)]
    yield "which costs {} to {} %", *sorted(costs)
    yield "`gating + affine`, a third of the baseline's", Within(0.32, ratio("energy", "gating", "affine"), 0.345)
    every = "coalescing", "gating", *both
    yield "all four together take {}", ratio("energy", *every)
    yield ("the affine unit with bypassing, {} %; with coalescing or gating as well, {} %",
           100 * ratio("ipc", *both) - 100, 100 * ratio("ipc", "gating", *both) - 100)
    yield ("costs almost no storage ({}), the affine unit is next ({})", ratio("ipc_per_area", "coalescing"),
           ratio("ipc_per_area", "affine"))


def windows() -> Iterator[Claim]:
    config = SmConfig.preset("fermi").with_settings(["bypass=bow_hints"])
    words = FLIP_FLOP_UM2 * WARP_BITS * collector_words(config)
    yield "take nearly four times the area of the banks", Within(
        3.5, words / Macro(config.banks * config.rows, WARP_BITS).area_um2, 4)


def logic() -> Iterator[Claim]:
    alone, together = (energy(*mechanisms) for mechanisms in (("coalescing",), ("coalescing", "bypassing")))
    few, many = (of["added"]["coalescing logic"] for of in (alone, together))
    yield "the logic grows from {} to {} % of the baseline's energy", few, many
    yield "both together would take {} %", together["total"] - (many - few)


def two() -> Iterator[Claim]:
    """Gating with the affine unit: expected is the share that gating leaves without it."""
    none, gating, affine, both = (energy(*mechanisms) for mechanisms in (
        ("none",), ("gating",), ("affine",), ("gating", "affine")))
    for part, row in (("macros", "| macros | {} of {}: {} % | {} of {}: {} % |"),
                      ("wires", "| wires | {} of {}: {} % | {} of {}: {} % |"),
                      ("registers", "| registers | {} of {}: {} % | {} of {}: {} % |")):
        yield row, *left(gating[part], none[part]), *left(both[part], affine[part])
    rest = {name: of["total"] - of["overhead"] for name, of in (("gating", gating), ("affine", affine), ("both", both))}
    yield "{} of 100 | {} of {}: {} %", rest["gating"], *left(rest["both"], rest["affine"])
    yield "{} | {}, where {} and {} stand alone", gating["overhead"], both["overhead"], affine["overhead"], (
        gating["overhead"])
    expected, product = rest["gating"] * rest["affine"] / 100, gating["total"] * affine["total"] / 100
    yield "are gone): {} where {} is expected", rest["both"], expected
    unit = both["added"]["compact registers"] + both["added"]["expansion"]
    yield ("take {}, since what the affine unit executes never passes them, and the unit itself {}, together {} "
           "where {} is expected", both["overhead"] - unit, unit, both["overhead"], product - expected)
    yield "So both take {} in all, where the product is {}", both["total"], product
    yield "the first reason is three fifths of the gap", Within(
        0.55, (rest["both"] - expected) / (both["total"] - product), 0.65)


def left(value: float, of: float) -> tuple[float, float, float]:
    """As the table has it: "value of all: percent"."""
    return value, of, 100 * value / of
