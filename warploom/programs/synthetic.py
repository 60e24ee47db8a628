"""Inputs that look like data: images, text, weights. Each depends only on its arguments."""

import numpy as np


def image(rows: int, columns: int, seed: int) -> np.ndarray:
    """A grey image (uint8): smooth shades, an edge, and fine texture."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:rows, :columns] / max(rows, columns)
    shade = np.full((rows, columns), 120.0)
    for _ in range(4):
        frequency, phase = random.uniform(-6, 6, 2), random.uniform(0, 2 * np.pi)
        shade += random.uniform(10, 30) * np.cos(frequency @ np.array([y.ravel(), x.ravel()]) + phase).reshape(y.shape)
    shade += np.where(x + 0.4 * y > random.uniform(0.5, 0.9), 40, 0)
    return np.clip(shade + random.normal(0, 4, shade.shape), 0, 255).astype(np.uint8)


def text(length: int, seed: int) -> np.ndarray:
    """Letters (uint8) of words drawn from a small vocabulary by Zipf's law, blanks between them."""
    random = np.random.default_rng(seed)
    letters = np.frombuffer(b"etaoinshrdlucmfwypvbgkqjxz", np.uint8)
    frequency = 1 / np.arange(2, 28)
    words = [bytes(random.choice(letters, random.integers(2, 10), p=frequency / frequency.sum())) for _ in range(200)]
    rank = 1 / np.arange(1, 201)
    chosen = random.choice(200, length // 3 + 1, p=rank / rank.sum())
    return np.frombuffer(b" ".join(words[i] for i in chosen)[:length], np.uint8)
