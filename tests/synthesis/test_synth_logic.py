"""Buffers and stronger cells after linking change no logic: random netlists compute what they did before."""

import copy
import dataclasses
from random import Random
from typing import Any

import numpy as np
import pytest

from warploom.synth import closure, liberty, regrow, sizing
from warploom.synth.closure import close
from warploom.synth.fanout import buffer
from warploom.synth.gates import Gates
from warploom.synth.liberty import Library
from warploom.synth.netlist import Flat, Linker

KINDS = {"INV_X1": ("A", "ZN"), "BUF_X1": ("A", "Z"), "NAND2_X1": ("A1", "A2", "ZN"), "XOR2_X1": ("A", "B", "Z"),
         "MUX2_X1": ("A", "B", "S", "Z")}
MEMORY = "sram_macro_4x2_1r1w1e"
CLOCK, INPUTS, CELLS, FLOPS, OUTPUTS = 2, 6, 120, 80, 12


def module(random: Random, inside: str | None) -> dict[str, Any]:
    """A module of random gates, registers and a memory; inputs and outputs of buffers drive many pins, and two of its
    outputs have one net. It may have another one inside."""
    bits = [*range(3, 3 + INPUTS)]
    busy, cells = [*bits], dict[str, Any]()

    def some(count: int) -> list[int]:
        return [random.choice(busy if random.random() < 0.6 else bits) for _ in range(count)]

    def new(count: int) -> list[int]:
        found = [*range(bits[-1] + 1, bits[-1] + 1 + count)]
        bits.extend(found)
        return found

    flops = [("DFF_X1", {"CK": [CLOCK], "Q": [bit]}) for bit in new(FLOPS)]
    memory = {"RD_CLK": [CLOCK], "WR_CLK": [CLOCK], "RD_DATA": new(2)}
    if inside:
        cells["inside"] = {"type": inside, "connections": {"clk": [CLOCK], "in": some(INPUTS), "out": new(OUTPUTS)}}
    for number in range(CELLS):
        kind = random.choice([*KINDS])
        *given, output = KINDS[kind]
        connections = dict(zip(given, ([bit] for bit in some(len(given))), strict=True)) | {output: new(1)}
        cells[f"u{number}"] = {"type": kind, "connections": connections}
        busy += connections[output] if kind == "BUF_X1" else []
    for number, (kind, connections) in enumerate(flops):
        cells[f"r{number}"] = {"type": kind, "connections": connections | {"D": [random.choice(bits)]}}
    cells["memory"] = {"type": MEMORY, "connections": memory | {
        "RD_EN": some(1), "RD_ADDR": some(2), "WR_EN": some(1), "WR_ADDR": some(2), "WR_DATA": some(2)}}
    ports = {"clk": ("input", [CLOCK]), "in": ("input", bits[:INPUTS]), "out": ("output", [
        *random.sample(bits[INPUTS:], OUTPUTS - 2), bits[-1], bits[-1]])}
    return {"netnames": {}, "cells": cells, "ports": {
        name: {"direction": direction, "bits": found} for name, (direction, found) in ports.items()}}


def linked(random: Random, library: Library) -> Flat:
    return Linker({"inner": module(random, None), "top": module(random, "inner")}, library).link("top")


def seen(flat: Flat, library: Library, random: Random) -> list[dict[str, Any]]:
    """What is at the outputs, and at the data pins of the registers, of eight streams in forty cycles."""
    gates, found = Gates(flat, library, 8), []
    data = {label: row[flat.pins[kind].index("D")] for kind in flat.gates if kind.startswith("DFF")
            for label, row in zip(flat.labels[kind], flat.gates[kind], strict=True)}
    for _ in range(40):
        gates.settle({"in": np.array([[random.getrandbits(1) for _ in range(INPUTS)] for _ in range(8)], bool)})
        found.append({"out": gates.output("out")} | {label: gates.values[net].tolist() for label, net in data.items()})
        gates.clock()
    return found


@pytest.mark.parametrize("seed", range(4))
def test_netlists_compute_what_they_did(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """With trees at once, and with all paths too long in every round. A pin without capacitance moves, too."""
    monkeypatch.setattr(regrow, "LIMIT_PS", 100)
    monkeypatch.setattr(sizing, "LIMIT_PS", 100)
    monkeypatch.setattr(closure, "GOAL_PS", 0)
    library, random = liberty.load(None), Random(seed)
    cells = library.cells | {"XOR2_X1": dataclasses.replace(
        library.cells["XOR2_X1"], inputs={**library.cells["XOR2_X1"].inputs, "B": (0.0, 0.0)})}
    library = dataclasses.replace(library, cells=cells)
    flat = linked(random, library)
    before, stimulus = copy.deepcopy(flat), random.getrandbits(32)
    buffer(flat, library)
    assert len(flat.gates["BUF_X4"]), "trees between modules"
    flat = close(flat, library)
    assert len(flat.gates["BUF_X8"]) and any(kind.endswith("_X2") and len(rows) for kind, rows in flat.gates.items())
    values = seen(before, library, Random(stimulus))
    assert seen(flat, library, Random(stimulus)) == values
    assert len(values[0]) == 1 + 2 * FLOPS and len({str(each["out"]) for each in values}) > 20
