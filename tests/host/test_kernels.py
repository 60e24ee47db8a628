"""The bundled kernels: references against independent ones, metadata, sizes, and the permitted contents of their
PTX."""

import itertools
import re
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.arch.config import SmConfig
from warploom.arch.errors import LaunchError
from warploom.arch.launch import Buffer
from warploom.kernels.library import SIZES, kernel, kernels
from warploom.kernels.references import fma

NAMES = ["bfs", "histogram", "hotspot", "matmul", "pathfinder", "reduction", "vector_add"]
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2**60), max_value=2**60)


def arrays(name, size="tiny"):
    """The initial and the expected buffers of a launch, by name."""
    file = kernel(name).load(size)
    initial = {a.name: a.array for a in file.launch.arguments if isinstance(a, Buffer)}
    return file.launch, initial, {e.name: e.array for e in file.expectations}


def test_the_library_is_complete():
    assert [k.name for k in kernels()] == NAMES
    for k in kernels():
        assert k.what
        assert 8 <= k.ptxas_registers <= 255


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", SIZES)
def test_every_output_has_an_expectation_that_the_initial_contents_do_not_meet(name, size):
    file = kernel(name).load(size)
    assert tuple(e.name for e in file.expectations) == file.outputs
    initial = {a.name: a.array for a in file.launch.arguments if isinstance(a, Buffer)}
    for expectation in file.expectations:
        assert (expectation.array.dtype, expectation.array.shape) == (initial[expectation.name].dtype,
                                                                      initial[expectation.name].shape)
        assert expectation.mismatch(initial[expectation.name])


@pytest.mark.parametrize("name", NAMES)
def test_a_tiny_block_fits_half_of_the_small_preset(name):
    small, launch = SmConfig.preset("small"), kernel(name).load("tiny").launch
    assert launch.warps_per_block <= small.warps // 2
    assert launch.dynamic_shared <= small.shared_bytes // 2
    assert launch.blocks > 1


@pytest.mark.parametrize("name", NAMES)
def test_ptx_names_no_path_and_no_other_entry(name):
    text = kernel(name).ptx.read_text()
    assert re.findall(r"\.entry (\w+)", text) == [name]
    assert ".file" not in text
    assert not re.search(r"/(tmp|home|usr|work|root)/", text)


def test_unknown_names_say_what_there_is():
    with pytest.raises(LaunchError, match=r"'mattmul' is not a bundled kernel; name one of bfs, .*, or a launch file"):
        kernel("mattmul")
    with pytest.raises(LaunchError, match=r"bfs: size 'huge': must be one of tiny, default"):
        kernel("bfs").load("huge")


@given(FLOATS, FLOATS, FLOATS)
def test_fma_rounds_the_exact_value_once(a, b, c):
    result = float(fma(*(np.array([x], np.float32) for x in (a, b, c)))[0])
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    best = np.float32(float(exact))
    near = [float(np.nextafter(best, np.float32(side))) for side in (-np.inf, np.inf)] + [float(best)]
    assert abs(Fraction(result) - exact) == min(abs(Fraction(x) - exact) for x in near)


def test_fma_is_right_where_rounding_twice_is_wrong():
    """The exact sum is slightly above the midpoint of two floats; the sum in double is the midpoint itself."""
    a, c = np.array([1 + 2.0**-12], np.float32), np.array([2.0**-60], np.float32)
    assert fma(a, a, c)[0] == 1 + 2.0**-11 + 2.0**-23
    assert np.float32(np.float64(a[0]) ** 2 + np.float64(c[0])) == 1 + 2.0**-11


def test_bfs_distances_are_shortest_paths():
    _, initial, expected = arrays("bfs")
    graph = nx.DiGraph()
    graph.add_nodes_from(range(64))
    cuts = itertools.pairwise(initial["offsets"].tolist())
    graph.add_edges_from((v, int(u)) for v, (a, b) in enumerate(cuts) for u in initial["edges"][a:b])
    for source, distance in enumerate(expected["distances"]):
        lengths = nx.single_source_shortest_path_length(graph, source)
        assert distance.tolist() == [lengths.get(v, -1) for v in range(64)]
    assert -1 in expected["distances"]
    assert expected["distances"].max() >= 4


def test_histogram_counts_every_byte_once():
    _, initial, expected = arrays("histogram")
    assert expected["bins"].sum() == initial["data"].size
    assert all(expected["bins"][value] == (initial["data"] == value).sum() for value in range(256))


def test_pathfinder_costs_are_those_of_the_cheapest_of_all_paths():
    _, initial, expected = arrays("pathfinder")
    wall, start = initial["wall"][:, :9], initial["start"][:9]

    def cheapest(row, column):
        if row < 0:
            return int(start[column])
        above = (c for c in (column - 1, column, column + 1) if 0 <= c < 9)
        return int(wall[row, column]) + min(cheapest(row - 1, c) for c in above)

    last = len(wall) - 1
    assert [cheapest(last, column) for column in range(9 - len(wall))] == expected["result"][: 9 - len(wall)].tolist()


@pytest.mark.parametrize("size", SIZES)
def test_float_references_are_close_to_double_precision(size):
    _, initial, expected = arrays("matmul", size)
    assert np.allclose(expected["c"], initial["a"].astype(float) @ initial["b"].astype(float), atol=1e-5)
    launch, initial, expected = arrays("reduction", size)
    assert np.isclose(expected["partial_sums"].sum(dtype=float), initial["values"].sum(dtype=float), atol=1e-2)
    assert expected["partial_sums"].size == launch.blocks
    _, initial, expected = arrays("hotspot", size)
    t, power = (initial[name].astype(float) for name in ("temperature", "power"))
    inner = np.s_[1:-1, 1:-1]
    flow_x, flow_y = t[1:-1, :-2] + t[1:-1, 2:] - 2 * t[inner], t[:-2, 1:-1] + t[2:, 1:-1] - 2 * t[inner]
    change = power[inner] + flow_x * 0.1 + flow_y * 0.12 + (300 - t[inner]) * 0.005
    assert np.allclose(expected["result"][inner], t[inner] + change, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("size", "about"), [("tiny", 3_000), ("default", 100_000)])
def test_the_golden_model_computes_the_reference_bit_for_bit(name, size, about):
    """The size of a launch is guaranteed: benches and time limits depend on it."""
    from warploom.compiler.compile import compile_file
    from warploom.golden_model.functional.executor import execute

    file = kernel(name).load(size)
    execution = execute(compile_file(file.ptx), file.launch, record=False)
    assert [e.mismatch(execution.buffers[e.name]) for e in file.expectations] == [None] * len(file.outputs)
    assert 0.75 * about <= execution.warp_instructions <= 1.25 * about


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_traces_of_default_size_are_checked(name):
    """They are longer than those that every functional run of a test checks."""
    from support.checked_runs import LONGEST, check_trace

    from warploom.compiler.compile import compile_file
    from warploom.golden_model.functional.executor import execute

    file = kernel(name).load("default")
    trace = execute(compile_file(file.ptx), file.launch).trace
    assert trace.warp_instructions > LONGEST
    assert check_trace(trace) > LONGEST
