"""Fourier transforms of rows, radix 4: four complex numbers a thread, exchanged through shared memory each pass."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"HAWS 5.1": "FFT"}

SIZES = {"tiny": (6, 64), "default": (25, 1024), "large": (2700, 1024)}
"""Rows, and numbers of a row, a power of four."""


def inputs(size: str) -> Inputs:
    """Two tones and noise, and the roots of one."""
    random, (rows, length) = np.random.default_rng(39), SIZES[size]
    phase = 2j * np.pi * np.arange(length) / length
    noise = random.normal(0, 0.2, (2, rows, length))
    signal = np.exp(5 * phase) + 0.5 * np.exp(-17 * phase) + noise[0] + 1j * noise[1]
    return {"signal": signal.astype(np.complex64), "roots": np.exp(-phase).astype(np.complex64)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The spectrum of each row."""
    fft = gpu.module(Path(__file__).with_name("fft.ptx"))["fft"]
    signal, roots = gpu.array(given["signal"], "signal"), gpu.array(given["roots"], "roots")
    rows, length = signal.shape
    spectrum = gpu.zeros(signal.shape, np.complex64, "spectrum")
    fft[rows, length // 4, 8 * length](signal, spectrum, roots)
    return {"spectrum": spectrum.numpy().view(np.float32)}


def reference(given: Inputs) -> Outputs:
    """All rows at once: quarters of a row are transformed together, real and imaginary parts apart."""
    signal, roots = given["signal"], given["roots"]
    rows, length = signal.shape
    done = 1
    while done < length:
        quarters = signal.reshape(rows, 4, -1, done)
        turns = roots[np.outer(np.arange(4), np.arange(done)) * (length // 4 // done)]
        a, b, c, d = np.moveaxis(_product(quarters, turns[:, None]), 1, 0)
        d = b - d, b + d
        turned = (d[0].imag - 1j * d[0].real).astype(np.complex64)
        signal = np.stack([(a + c) + d[1], (a - c) + turned, (a + c) - d[1], (a - c) - turned], axis=2)
        done *= 4
    return {"spectrum": signal.reshape(rows, length).view(np.float32)}


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result = np.empty(a.shape, np.complex64)
    result.real = fma(a.real, b.real, -(a.imag * b.imag))
    result.imag = fma(a.real, b.imag, a.imag * b.real)
    return result
