"""Pictures of programs whose inputs and outputs are images or fields."""

import base64
import io
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.image import imsave

GREY, FIELD = "gray", "cividis"
"""Colour maps of matplotlib."""


class Shown(NamedTuple):
    """The arrays to show, from the smallest value to the largest in a colour map."""

    given: str | None
    found: str
    colours: str = GREY
    of: Callable[[np.ndarray], np.ndarray] = lambda array: array


class Picture(NamedTuple):
    """A PNG inside the page, and what it shows."""

    caption: str
    address: str


def first(stack: np.ndarray) -> np.ndarray:
    """The first image of several."""
    return stack[0]


def middle(volume: np.ndarray) -> np.ndarray:
    """The layer in the middle."""
    return volume[len(volume) // 2]


def near(volume: np.ndarray) -> np.ndarray:
    """The layer next to the first, which is a boundary."""
    return volume[1]


def unprinted(image: np.ndarray) -> np.ndarray:
    """Red, green and blue of cyan, magenta, yellow and black; other images as they are."""
    if image.shape[-1] != 4:
        return image
    ink = image[..., :3].astype(np.uint16) + image[..., 3:]
    return (255 - np.minimum(ink, 255)).astype(np.uint8)


SHOWN = {
    "bilateral": Shown("image", "result"),
    "conv_2d": Shown(None, "out", FIELD),
    "coulombic": Shown(None, "potential", FIELD),
    "cutcp": Shown(None, "potential", FIELD, middle),
    "dct": Shown("image", "result"),
    "dither": Shown("images", "results", GREY, first),
    "dwt2d": Shown("image", "bands"),
    "hotspot": Shown(None, "result", FIELD),
    "jacobi_2d": Shown(None, "square", FIELD),
    "laplace3d": Shown(None, "box", FIELD, near),
    "median": Shown("image", "result"),
    "mfilt": Shown("image", "result"),
    "ray_tracing": Shown(None, "picture"),
    "rgb2cmyk": Shown("rgb", "cmyk", GREY, unprinted),
    "simple_convolution": Shown("image", "result"),
    "srad": Shown("image", "image"),
    "weather": Shown(None, "rain", FIELD),
}
"""The programs and kernels with pictures."""


def pictures(name: str, given: Mapping[str, Any], found: Mapping[str, Any]) -> list[Picture]:
    """Input and output of a program; none if they are no images."""
    if name not in SHOWN:
        return []
    shown = SHOWN[name]
    arrays = [("input", given[shown.given])] if shown.given else []
    return [Picture(f"{name}, {what}", _png(shown.of(array), shown.colours))
            for what, array in [*arrays, ("output", found[shown.found])]]


def _png(image: np.ndarray, colours: str) -> str:
    """As an address that contains it; the same image, the same bytes."""
    file = io.BytesIO()
    imsave(file, image, cmap=colours, format="png", metadata={"Software": None})  # type: ignore[dict-item]
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
