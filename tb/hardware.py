"""What a lockstep run needs of the hardware: the one in a simulator has it, and what records the run has it too."""

from collections.abc import Mapping
from typing import Any, Protocol

from warploom.arch.config import SmConfig
from warploom.tb.codec import Codec
from warploom.tb.shadow import Address, Form, Shadow


def reset_cycles(config: SmConfig) -> int:
    """How long a reset lasts: two cycles, and one for each row of the zero masks, which it clears one by one."""
    return 2 + (config.rows if config.has_zero_mask else 0)


class Hardware(Protocol):
    """A datapath with a probe, and the codecs of its ports by name."""

    config: SmConfig
    codecs: dict[str, Codec]

    def expect(self, cycle: int, port: str, word: int, mask: int | None = None) -> int:
        """What an output shows, which must be the given word in the bits of the mask, by default in all. Raises
        `Difference`."""
        ...

    def expect_stored(self, cycle: int, address: Address, form: Form, shadow: Shadow) -> None:
        """A bank is written, and must then hold, in this form, what the shadow has. Raises `Difference`."""
        ...

    def drive(self, stimulus: Mapping[str, Any]) -> None:
        """All inputs of the cycle; those left out are zero."""
        ...
