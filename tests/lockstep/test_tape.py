"""Tapes have the expected outputs of the hardware, and are made again when they are damaged or do not fit."""

import dataclasses
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.damage import DAMAGE
from support.small_launches import CONFIG, PTX, launches

from warploom.arch.config import SmConfig
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.register_file.zero_mask import Zero
from warploom.golden_model.words import ALL_LANES, merge
from warploom.kernels.launchfile import LaunchFile, Options, load
from warploom.rtl.verilog import datapath, ports
from warploom.tb import tape as tapes
from warploom.tb.shadow import Form, Shadow
from warploom.tb.sparse import word
from warploom.tb.tape import About, Recorder, Refused, size_of, tape

WORD = 1024


@cache
def hardware() -> list[dict[str, Any]]:
    """The ports of the datapath."""
    return ports(datapath(CONFIG, probe=True))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path: Path) -> LaunchFile:
    """A launch of 300 cycles."""
    launch, = launches(tmp_path, 1)
    return launch


# ---------------------------------------------------------------- the store


@pytest.mark.parametrize("name", [tapes.ITEMS, tapes.ABOUT])
@pytest.mark.parametrize("damage", ["half", "last bit"])
def test_a_damaged_tape_is_made_again(place, file, capsys, damage, name):
    items, about = tape(CONFIG, hardware(), file)
    path, contents = items.with_name(name), items.read_bytes()
    assert about.cycles == 300
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert tape(CONFIG, hardware(), file) == (items, about)
    assert items.read_bytes() == contents
    assert capsys.readouterr().err == f"warploom: warning: {path} is damaged: made again\n"


def test_a_tape_is_made_once_for_what_it_depends_on(place, file, monkeypatch):
    recorded = []

    def record(config, ports, file, folder):
        recorded.append(file)
        (folder / tapes.ABOUT).write_text(json.dumps(dataclasses.asdict(About(1, 1, 1, {}, None))))

    monkeypatch.setattr(tapes, "record", record)

    def fresh(config=CONFIG, ports=None, file=file) -> bool:
        before = len(recorded)
        tape(config, ports or hardware(), file)
        return len(recorded) > before

    assert fresh() and not fresh()
    assert fresh(config=CONFIG.with_settings(["collectors=3"]))
    assert fresh(ports=[*hardware(), {"name": "more", "direction": "input", "width": 1}])
    for options in (Options(optimise=False), Options(virtual_registers=True), Options(max_registers=9),
                    Options(heap_base=0xC0000000)):
        assert fresh(file=file.changed(options))
    assert fresh(file=dataclasses.replace(file, launch=dataclasses.replace(file.launch, limit=5000)))
    file.ptx[0].write_text(file.ptx[0].read_text().replace("mov.u32 %r3, 0", "mov.u32 %r3, 1"))
    assert fresh() and not fresh()
    monkeypatch.setattr(tapes, "SOURCES", tapes.SOURCES[1:])
    assert fresh()


# ---------------------------------------------------------------- undefined operands


def partly(use: str, file: LaunchFile) -> None:
    """The launch, of a kernel that uses a register which is defined in one lane, while all others are in use."""
    others = " ".join(f"st.global.u32 [%rd3], %r{register};" for register in (1, 3, 4))
    text = f"setp.eq.u32 %p2, %r1, 5; @%p2 mov.u32 %r8, 7; {use} {others} ret;"
    file.ptx[0].write_text(PTX.replace("ROUNDS", "3").replace("ret;", text))


def test_a_run_whose_memory_would_hold_what_hardware_found_is_refused(place, file, monkeypatch):
    partly("st.global.u32 [%rd3], %r8;", file)
    for _ in range(2):
        with pytest.raises(Refused, match="ST of warp 0 gets an undefined operand"):
            tape(CONFIG, hardware(), file)
        monkeypatch.setattr(tapes, "record", None)  # that it is refused is known


def test_other_undefined_operands_are_left_out(place, file):
    """They are not compared, and nothing else depends on them."""
    partly("add.f32 %r8, %r8, %r8; @%p2 st.global.u32 [%rd3], %r8;", file)
    assert tape(CONFIG, hardware(), file)[1].cycles > 0


@pytest.mark.parametrize("name", ["print", "symbols", "early", "taps"])
def test_answers_do_not_depend_on_operands_that_are_not_compared(place, monkeypatch, name, seed):
    """A recorder with random values in these bits writes the same tape."""
    rng, expect = random.Random(seed), Recorder.expect
    file = load(Path(__file__).parents[1] / "ptx" / f"{name}.toml")
    items, about = tape(CONFIG, hardware(), file)
    contents = items.read_bytes()

    def expect_anything(recorder, cycle, port, word, mask=None):
        shown = expect(recorder, cycle, port, word, mask)
        return shown if mask is None else shown & mask | rng.getrandbits(recorder.codecs[port].width) & ~mask

    monkeypatch.setattr(Recorder, "expect", expect_anything)
    monkeypatch.setenv("WARPLOOM_CACHE", str(place / "other"))
    again, same = tape(CONFIG, hardware(), file)
    assert (again.read_bytes(), same) == (contents, about)


# ---------------------------------------------------------------- what banks must hold


@pytest.mark.parametrize("settings", [
    "coalescing=off gating=off", "coalescing=on gating=off", "coalescing=on gating=in_lane",
    "coalescing=on gating=cross_lane", "coalescing=off gating=in_lane", "coalescing=off gating=cross_lane",
])
def test_columns_say_all_that_restores_known_lanes_and_no_more(settings, seed):
    rng, config, address = random.Random(seed), SmConfig.preset("small").with_settings(settings.split()), (0, 0)
    for _ in range(50):
        shadow = Shadow(config)
        known = shadow.known[address] = rng.choice((ALL_LANES, rng.getrandbits(32)))
        encoding = Encoding(rng.randint(1, 4), rng.getrandbits(1), bool(rng.getrandbits(1)))
        reorder = rng.getrandbits(8) if settings == "coalescing=off gating=cross_lane" else 0
        zero = Zero(rng.getrandbits(32) if config.has_zero_mask else 0, reorder)
        form = Form(encoding if config.has_sides else Form().encoding, zero)
        anything = rng.getrandbits(WORD)
        shadow._stored[address] = anything
        shadow._values[address] = merge(word(rng, ALL_LANES), shadow.stored(address, form), known)
        columns, mask = shadow.columns(address, form)
        assert columns == anything & mask
        for bit in rng.sample(range(WORD), 40):
            shadow._stored[address] = anything ^ 1 << bit
            restored = shadow.stored(address, form)
            assert (merge(0, restored ^ shadow.value(address), known) != 0) == bool(mask >> bit & 1)


def test_a_form_that_tells_another_value_is_no_form_of_it() -> None:
    shadow = Shadow(SmConfig.preset("small").with_settings(["coalescing=on"]))
    shadow.known[0, 0], shadow._values[0, 0] = 1, 0x1234
    with pytest.raises(AssertionError, match="the model stores 0x1234 as "):
        shadow.columns((0, 0), Form(Encoding(1, 0, left=False)))


def test_ports_have_the_sizes_of_cpp() -> None:
    widths = {1: 1, 8: 1, 9: 2, 16: 2, 17: 4, 32: 4, 33: 8, 64: 8, 65: 12, 96: 12, 97: 16}
    assert {width: size_of(width) for width in widths} == widths
