"""All legal combinations of the mechanisms on a machine, each synthesised."""

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from warploom import points, store
from warploom.arch.config import SmConfig
from warploom.arch.covering import covering, pairs
from warploom.arch.errors import ConfigError, WarploomError
from warploom.arch.mechanisms import MECHANISMS
from warploom.synth.flow import TOP, synthesise
from warploom.synth.report import Row


@dataclass(frozen=True)
class Combination:
    """Settings of switches that differ from their defaults, each ``field=value``, and the machine with them."""

    settings: tuple[str, ...]
    config: SmConfig

    def __str__(self) -> str:
        return " ".join(self.settings) or "no other"


def combinations(config: SmConfig, held: Collection[str] = (), *, only_pairs: bool = False) -> list[Combination]:
    """The combinations that have hardware, of all values of all switches of mechanisms; switches in `held` keep their
    value. With `only_pairs` enough of them that each legal pair of values is in one."""
    switches = [switch for mechanism in MECHANISMS if mechanism.is_on for switch in mechanism.switches
                if switch.field not in held]
    found = {}
    for values in product(*(type(switch.default) for switch in switches)):
        settings = [f"{switch.field}={value}" for switch, value in zip(switches, values, strict=True)]
        try:
            changed = config.with_settings(settings)
            changed.check_hardware()
        except ConfigError:
            continue
        shown = (setting for setting, switch, value in zip(settings, switches, values, strict=True)
                 if value is not switch.default)
        named = zip((switch.field for switch in switches), values, strict=True)
        found[Combination(tuple(shown), changed)] = pairs(named)
    return covering(found) if only_pairs else [*found]


def synthesise_all(wanted: Sequence[Combination], liberty: Path | None, done: Callable[[str], None], *,
                   flat: bool = False) -> list[Row]:
    """The datapath of each, as many at a time as there are processors; `done` hears of each as it ends. Results are
    cached. Raises what `synthesise` raises."""
    store.need_place()
    found: dict[Combination, Row] = {}
    with closing(points.compute(partial(_synthesise, liberty=liberty, flat=flat), wanted)) as ended:
        for one, row in ended:
            if isinstance(row, WarploomError):
                raise row
            found[one] = row
            done(str(one))
    return [found[one] for one in wanted]


def _synthesise(one: Combination, liberty: Path | None, *, flat: bool) -> Row:
    row, = synthesise(one.config, [TOP], liberty, flat=flat).rows
    return row
