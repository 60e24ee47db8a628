"""LIBOR Monte Carlo: each thread its own rates in local memory, constants for all, a division and exp a step."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"BOW": "LIB"}
TOLERANCES = {"losses": (1e-3, 1e-4)}

MARKET = np.dtype([("rates", "<i4"), ("steps", "<i4"), ("interval", "<f4")])
SWAPTION = np.dtype([("length", "<i4"), ("rate", "<f4")])
INTERVAL, FIRST_RATE = np.float32(0.25), np.float32(0.05)


def inputs(size: str) -> Inputs:
    """Shocks, normally distributed; the market's volatilities and the portfolio, in order of length."""
    paths, rates, steps = {"tiny": (32, 12, 5), "default": (480, 24, 10), "large": (2048, 80, 40)}[size]
    random = np.random.default_rng(1986)
    lengths = np.sort(random.choice(np.arange(1, rates - steps + 1), min(15, rates - steps), replace=False))
    swaptions = np.array(list(zip(lengths, random.uniform(0.045, 0.055, len(lengths)), strict=True)), SWAPTION)
    return {"shocks": random.normal(size=(steps, paths)).astype(np.float32), "swaptions": swaptions,
            "volatilities": np.linspace(0.25, 0.15, rates, dtype=np.float32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch; the market is a struct among the arguments."""
    module = gpu.module(Path(__file__).with_name("libor.ptx"))
    module.set("volatilities", given["volatilities"])
    module.set("swaptions", given["swaptions"])
    steps, paths = given["shocks"].shape
    market = np.array((len(given["volatilities"]), steps, INTERVAL), MARKET)[()]
    losses = gpu.zeros(paths, "f4")
    module["libor"][paths // 32, 32](
        market, gpu.array(given["shocks"]), losses, paths, FIRST_RATE, len(given["swaptions"]))
    return {"losses": losses.numpy()}


def reference(given: Inputs) -> Outputs:
    """All paths at once."""
    one, half, volatilities = np.float32(1), np.float32(0.5), given["volatilities"]
    steps, paths = given["shocks"].shape
    rates = np.full((len(volatilities), paths), FIRST_RATE)
    for step, shocks in enumerate(given["shocks"]):
        drift = np.zeros(paths, np.float32)
        for i, volatility in zip(range(step + 1, len(rates)), volatilities, strict=False):
            scaled = INTERVAL * volatility
            drift += scaled * rates[i] / fma(INTERVAL, rates[i], one)
            rates[i] *= np.exp(volatility * (drift + fma(-half, scaled, np.sqrt(INTERVAL) * shocks)))
    growth = fma(INTERVAL, rates, one)
    discounts = np.divide.accumulate(np.vstack([np.ones_like(growth[:1]), growth[steps:]]))[1:]
    annuities = np.cumsum(INTERVAL * discounts, axis=0)
    losses = np.zeros(paths, np.float32)
    for length, rate in given["swaptions"]:
        losses += np.maximum(one - fma(rate, annuities[length - 1], discounts[length - 1]), 0)
    return {"losses": np.float32(100) * np.divide.reduce(np.vstack([losses, growth[:steps]]))}
