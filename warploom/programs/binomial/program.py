"""Binomial option pricing: a level of the tree per two barriers, fewer threads active at every level."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"TFET": "Binomial Options"}
TOLERANCES = {"values": (1e-4, 1e-5)}

FIELDS = ("price", "strike", "volatility", "up", "down")
OPTION = np.dtype([(name, "<f4") for name in FIELDS])
INTEREST, VOLATILITY = 0.02, 0.3
"""A year."""


def inputs(size: str) -> Inputs:
    """Options of different prices, strikes and times (years); the number of steps."""
    count, steps = {"tiny": (1, 63), "default": (5, 255), "large": (400, 255)}[size]
    random = np.random.default_rng(1979)
    step = random.uniform(0.25, 10, count) / steps
    volatility, interest = VOLATILITY * np.sqrt(step), np.exp(INTEREST * step)
    up = (interest - np.exp(-volatility)) / (np.exp(volatility) - np.exp(-volatility))
    options = np.column_stack([random.uniform(5, 30, count), random.uniform(1, 50, count), volatility,
                               up / interest, (1 - up) / interest])
    return {"options": options.astype(np.float32).view(OPTION)[:, 0], "steps": steps}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    binomial = gpu.module(Path(__file__).with_name("binomial.ptx"))["binomial"]
    threads = given["steps"] + 1
    values = gpu.zeros(len(given["options"]), "f4")
    binomial[len(given["options"]), threads, 4 * threads](gpu.array(given["options"]), values)
    return {"values": values.numpy()}


def reference(given: Inputs) -> Outputs:
    """Level by level, for all options at once."""
    price, strike, volatility, up, down = (given["options"][name][:, None] for name in FIELDS)
    steps = given["steps"]
    growth = np.exp(volatility * np.arange(-steps, steps + 1, 2, dtype=np.float32))
    values = np.maximum(fma(price, growth, -strike), np.float32(0))
    for _ in range(steps):
        values = fma(up, values[:, 1:], down * values[:, :-1])
    return {"values": values[:, 0]}
