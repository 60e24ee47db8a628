"""The interface of hardware in a lockstep run: implemented by the simulator, and by the recorder of a tape."""

from collections.abc import Mapping
from typing import Any, Protocol

from warploom.arch.config import SmConfig
from warploom.tb.codec import Codec
from warploom.tb.shadow import Address, Form, Shadow


def reset_cycles(config: SmConfig) -> int:
    """Cycles of a reset: two, and one for each row of the zero masks, which it clears one by one."""
    return 2 + (config.rows if config.has_zero_mask else 0)


class Hardware(Protocol):
    """A datapath with a probe, and the codecs of its ports by name."""

    config: SmConfig
    codecs: dict[str, Codec]

    def expect(self, cycle: int, port: str, word: int, mask: int | None = None) -> int:
        """The output's word, which must equal the given word in the bits of the mask (by default in all). Raises
        `Difference`."""
        ...

    def expect_stored(self, cycle: int, address: Address, form: Form, shadow: Shadow) -> None:
        """A bank is written, and must then hold, in this form, the word of the shadow. Raises `Difference`."""
        ...

    def drive(self, stimulus: Mapping[str, Any]) -> None:
        """Set all inputs of the cycle; those that are not named are zero."""
        ...
