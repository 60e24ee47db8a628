"""Launch files: the launch matches the file, and every error is one line with file, key and remedy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.arch.errors import LaunchError
from warploom.arch.launch import Buffer, Locality, Scalar
from warploom.kernels.arrays import SCALAR_TYPES
from warploom.kernels.expectation import Expectation
from warploom.kernels.launchfile import load

HEAD = 'ptx = "k.ptx"\ngrid = [2, 3]\nblock = 64\n'
SCALAR = '[[arguments]]\ntype = "s32"\nvalue = 5\n'
BUFFER = '[[arguments]]\nname = "x"\ndtype = "float32"\nshape = [2, 4]\n'
ZEROS = 'generator = { kind = "zeros" }\n'


@pytest.fixture
def write(tmp_path):
    """Writes a launch file beside an (empty) k.ptx and three arrays, and returns its path."""
    (tmp_path / "k.ptx").touch()
    np.save(tmp_path / "ones.npy", np.ones((2, 4), np.float32))
    np.save(tmp_path / "big_endian.npy", np.arange(3, dtype=">i4"))
    np.save(tmp_path / "objects.npy", np.array([None, {}], dtype=object))
    np.save(tmp_path / "complex.npy", np.ones(3, np.complex64))
    np.save(tmp_path / "empty.npy", np.ones(0, np.float32))
    (tmp_path / "text.npy").write_text("not an array")

    def write_text(text):
        path = tmp_path / "launch.toml"
        path.write_text(text)
        return path

    return write_text


def test_a_file_may_begin_with_a_byte_order_mark(write):
    assert load(write("\ufeff" + HEAD)).launch.block == (64, 1, 1)


def test_everything_a_file_can_say(write):
    path = write(HEAD.replace("64", "[8, 4, 2]") + 'entry = "k"\ndynamic_shared = 512\n'
                 + 'strict_barriers = true\nlocality = 2\n' + SCALAR + BUFFER + ZEROS
                 + 'out = true\nexpect = "ones.npy"\nabsolute = 1e-3\n'
                 + '[[arguments]]\nname = "y"\nfile = "big_endian.npy"\n')
    file = load(path)
    assert (file.path, file.ptx, file.entry) == (path, (path.parent / "k.ptx",), "k")
    assert (file.launch.grid, file.launch.block, file.launch.dynamic_shared) == ((2, 3, 1), (8, 4, 2), 512)
    assert file.launch.strict_barriers
    assert file.launch.locality is Locality.BOUNDARY
    scalar, x, y = file.launch.arguments
    assert scalar == Scalar("s32", b"\x05\0\0\0")
    assert isinstance(x, Buffer)
    assert (x.name, x.array.dtype, x.array.shape, x.array.any()) == ("x", np.float32, (2, 4), False)
    assert y.array.dtype.isnative
    assert y.array.tolist() == [0, 1, 2]
    assert file.outputs == ("x",)
    expectation, = file.expectations
    assert (expectation.name, expectation.absolute, expectation.relative) == ("x", 1e-3, 0.0)
    assert expectation.array.tolist() == np.ones((2, 4)).tolist()


def test_a_file_without_arguments_or_options(write):
    file = load(write(HEAD))
    assert not file.launch.strict_barriers
    assert file.launch.locality is Locality.NONE
    assert (file.entry, file.launch.dynamic_shared, file.launch.arguments, file.outputs) == (None, 0, (), ())


def test_scalars_have_the_bytes_of_their_type(write):
    values = {"s8": -1, "u16": 0xFFFF, "u64": 2**63 - 1, "f16": 1.5, "f32": 0.1, "f64": float("nan"), "b64": 7}
    text = HEAD + "".join(f'[[arguments]]\ntype = "{t}"\nvalue = {v}\n' for t, v in values.items())
    for argument, (name, value) in zip(load(write(text)).launch.arguments, values.items(), strict=True):
        assert argument.data == np.array(value, SCALAR_TYPES[name]).tobytes()


@pytest.mark.parametrize(
    ("generator", "dtype", "expected"),
    [
        ('kind = "constant", value = -3', "int8", [-3] * 4),
        ('kind = "arange"', "uint8", [0, 1, 2, 3]),
        ('kind = "arange", start = 1.5, step = -1', "float64", [1.5, 0.5, -0.5, -1.5]),
        ('kind = "arange", start = -16777217, step = 16777216', "float32", [-16777216, -1, 16777215, 33554432]),
        ('kind = "integers", low = 7, high = 8, seed = 1', "uint64", [7] * 4),
    ],
)
def test_generators_without_chance(write, generator, dtype, expected):
    text = f'{HEAD}[[arguments]]\nname = "x"\ndtype = "{dtype}"\nshape = 4\ngenerator = {{ {generator} }}\n'
    array = load(write(text)).launch.arguments[0].array
    assert array.dtype == dtype
    assert array.tolist() == expected


def test_long_sequences_of_short_floats(write):
    """Half a step for each of 100,000 elements: their numbers are beyond the largest float of 16 bits, 65,504."""
    text = f'{HEAD}[[arguments]]\nname = "x"\ndtype = "float16"\nshape = 100000\n'
    text += 'generator = { kind = "arange", start = -2500, step = 0.05 }\n'
    array = load(write(text)).launch.arguments[0].array
    assert (array == (np.arange(100_000) / 20 - 2500).astype(np.float16)).all()


def test_uniform_numbers_are_below_the_bound_when_rounded(write):
    def make(low, high):
        text = f'{HEAD}[[arguments]]\nname = "x"\ndtype = "float16"\nshape = 9999\n'
        text += f'generator = {{ kind = "uniform", low = {low}, high = {high}, seed = 1 }}\n'
        return load(write(text)).launch.arguments[0].array

    assert make(0, 1).max() == np.float16(1 - 2**-11)
    assert set(make(2048.1, 2054.1).tolist()) == {2050, 2052, 2054}  # every second whole number is one of 16 bits
    with pytest.raises(LaunchError, match=r"high: no float16 is from 2048\.1 to below 2049"):
        make(2048.1, 2049)


def test_random_generators_depend_on_the_seed_alone_and_stay_in_range(write):
    def make(generator, dtype="float32"):
        text = f'{HEAD}[[arguments]]\nname = "x"\ndtype = "{dtype}"\nshape = 999\ngenerator = {{ {generator} }}\n'
        return load(write(text)).launch.arguments[0].array

    uniform = make('kind = "uniform", low = -2, high = 3.0, seed = 1')
    assert (uniform == make('kind = "uniform", low = -2, high = 3.0, seed = 1')).all()
    assert (uniform != make('kind = "uniform", low = -2, high = 3.0, seed = 2')).any()
    assert -2 <= uniform.min() < -1.9
    assert 2.9 < uniform.max() <= 3
    whole = make('kind = "integers", low = 0, high = 10, seed = 1, sorted = true', "uint8")
    assert sorted(set(whole.tolist())) == list(range(10))
    assert (np.diff(whole.astype(int)) >= 0).all()


SYMBOL = '[[symbols]]\nname = "$s"\n'


def test_symbols(write):
    second = BUFFER.replace("arguments", "symbols").replace('"x"', '"c"') + ZEROS + 'out = true\nexpect = "ones.npy"\n'
    file = load(write(HEAD + BUFFER + ZEROS + SYMBOL + 'type = "u16"\nvalue = 7\n' + second))
    scalar, array = file.launch.symbols
    assert (scalar.name, scalar.array.dtype, scalar.array.shape, int(scalar.array)) == ("$s", np.uint16, (), 7)
    assert (array.name, array.array.shape) == ("c", (2, 4))
    assert (file.outputs, [e.name for e in file.expectations]) == (("c",), ["c"])


MISTAKES = {
    "symbol without name": (HEAD + '[[symbols]]\ntype = "s32"\nvalue = 5\n', "symbols 1: name: is missing: must be"),
    "symbol named as a buffer": (HEAD + BUFFER + ZEROS + SYMBOL.replace("$s", "x") + 'type = "s32"\nvalue = 5\n',
                                 "symbols 1: name: 'x' is given twice"),
    "symbol that names no file": (HEAD + SYMBOL + 'dtype = "int8"\nshape = 1\nout = true\n' + ZEROS,
                                  "symbols 1: name: '$s' must be letters, digits"),
    "symbol at an address": (HEAD + SYMBOL + 'dtype = "int8"\nshape = 1\naddress = 0x700000000000\n' + ZEROS,
                             "symbols 1: address: is given: the variable's address is that of the module"),
    "scalar in memory": (HEAD + SCALAR.replace("arguments", "memory"), "memory 1: type: is for arguments and symbols"),
    "memory without name": (HEAD + BUFFER.replace("arguments", "memory").replace('name = "x"\n', "") + ZEROS,
                            "memory 1: name: is missing"),
    "memory named as an argument": (HEAD + BUFFER + ZEROS + BUFFER.replace("arguments", "memory") + ZEROS,
                                    "memory 1: name: 'x' is given twice"),
    "negative address": (HEAD + BUFFER + ZEROS + "address = -256\n", "address: -256 must be a whole number from 0"),
    "crooked address": (HEAD + BUFFER + ZEROS + "address = 0x700000000010\n", "must be at a multiple of 256, from"),
    "digits missing": (HEAD + SCALAR.replace("value = 5", 'bytes = "abc"'), "bytes: 'abc' must be two hexadecimal"),
    "no digits": (HEAD + SCALAR.replace("value = 5", 'bytes = "xy"'), "bytes: 'xy' must be two hexadecimal"),
    "bytes missing": (HEAD + SCALAR.replace("value = 5", 'bytes = "0102"'), "2 bytes: must be a multiple of 4"),
    "no bytes": (HEAD + SCALAR.replace("value = 5", 'bytes = "  "'), "0 bytes: must be a multiple of 4"),
    "value and bytes": (HEAD + SCALAR + 'bytes = "01020304"\n', "value is given, too: give either value or bytes"),
    "unknown key": (HEAD + "blok = 3\n", "blok: is not a key here; keys are ptx, entry, grid, block"),
    "misspelt key": (HEAD.replace("block", "blokc"), "block: is missing: must be a whole number of at least 1, or a "
                                                     "list of up to 3 of them; nearest: blokc"),
    "misspelt type": (HEAD + '[[arguments]]\ntpye = "s32"\nvalue = 1\n', "a buffer its dtype; nearest: tpye"),
    "missing key": (HEAD.replace("block = 64\n", ""), "block: is missing: must be a whole number of at least 1"),
    "not TOML": ("ptx = ", "not TOML: "),
    "wrong type": (HEAD.replace("64", '"64"'), "block: '64' must be a whole number of at least 1, or a list"),
    "truth as number": (HEAD.replace("64", "true"), "block: True must be a whole number"),
    "long name of a ptx": (HEAD.replace("k.ptx", "k" * 256), ": File name too long; paths are relative to the launch"),
    "no such ptx": (HEAD.replace("k.ptx", "absent.ptx"), "absent.ptx is not a file; paths are relative"),
    "empty entry": (HEAD + 'entry = ""\n', "entry: must not be empty"),
    "zero extent": (HEAD.replace("[2, 3]", "[2, 0]"), "grid: [2, 0] must be a whole number of at least 1"),
    "four extents": (HEAD.replace("64", "[1, 1, 1, 1]"), "or a list of up to 3"),
    "large block": (HEAD.replace("64", "[64, 32]"), "block: 2048 threads: at most 1024"),
    "large grid": (HEAD.replace("[2, 3]", "[2, 65536]"), "grid: 65536 blocks in y: at most 65535"),
    "an unknown hint": (HEAD + "locality = 4\n", "locality: 4 must be a whole number from 0 to 3"),
    "a named hint": (HEAD + 'locality = "LINES"\n', "locality: 'LINES' must be a whole number from 0 to 3"),
    "negative shared": (HEAD + "dynamic_shared = -1\n", "dynamic_shared: -1 must be a whole number from 0"),
    "arguments as table": (HEAD + "[arguments]\nn = 1\n", "must be given as [[arguments]] tables"),
    "argument of no kind": (HEAD + "[[arguments]]\nvalue = 1\n", "arguments 1: type: is missing: give a scalar"),
    "unknown PTX type": (HEAD + SCALAR.replace("s32", "int"), "arguments 1: type: 'int' must be one of s8, u8"),
    "scalar out of range": (HEAD + SCALAR.replace("5", "0x80000000"), "value: 2147483648 is out of the range of int32"),
    "scalar not whole": (HEAD + SCALAR.replace("5", "1.5"), "value: 1.5 must be a whole number for int32"),
    "NaN as integer": (HEAD + SCALAR.replace("5", "nan"), "value: nan must be a whole number for int32"),
    "float overflow": (HEAD + SCALAR.replace("s32", "f32").replace("5", "1e39"), "1e+39 is out of the range of"),
    "scalar key in buffer": (HEAD + BUFFER + ZEROS + "value = 3\n", "arguments 1: value: is not a key here"),
    "name missing": (HEAD + BUFFER.replace('name = "x"\n', "") + ZEROS, "name: is missing"),
    "name as path": (HEAD + BUFFER.replace('"x"', '"../x"') + ZEROS, "'../x' must be letters, digits"),
    "name twice": (HEAD + BUFFER + ZEROS + BUFFER + ZEROS, "arguments 2: name: 'x' is given twice"),
    "negative shape": (HEAD + BUFFER.replace("[2, 4]", "[2, -4]") + ZEROS, "shape: [2, -4] must be a whole number"),
    "huge shape": (HEAD + BUFFER.replace("[2, 4]", "[1000000, 1000000]") + ZEROS,
                   "shape: [1000000, 1000000] of float32 is more than 1024 MiB"),
    "many elements in a message": (HEAD + BUFFER.replace("[2, 4]", str([0] * 5000)) + ZEROS,
                                   f"shape: [{'0, ' * 26}0... (15,000 characters) must be a whole number"),
    "long text": (HEAD + f'entry = "{"x" * 5000}"\nentry2 = 1\n', "entry2: is not a key here"),
    "long key": (HEAD + f'"{"long key " * 500}" = 1\n', "... (4,500 characters): is not a key here"),
    "long type": (HEAD + SCALAR.replace("s32", "s" * 5000), f"type: '{'s' * 79}... (5,002 characters) must be one of"),
    "more digits than Python writes": (HEAD + SCALAR.replace("5", "0x" + "f" * 5000),
                                       "value: a value with more than 4,300 digits is out of the range of int32"),
    "array from a folder": (HEAD + BUFFER + 'file = "."\n', ": not a file; paths are relative"),
    "array from a name without end": (HEAD + BUFFER + f'file = "{"x" * 5000}"\n', "File name too long"),
    "unknown dtype": (HEAD + BUFFER.replace("float32", "float") + ZEROS, "dtype: 'float' must be one of float16"),
    "no contents": (HEAD + BUFFER, "generator: give either file"),
    "two contents": (HEAD + BUFFER + ZEROS + 'file = "ones.npy"\n', "generator: give either file"),
    "generator of no shape": (HEAD + BUFFER.replace("shape = [2, 4]\n", "") + ZEROS, "shape: is missing: a generator"),
    "unknown generator": (HEAD + BUFFER + ZEROS.replace("zeros", "noise"), "generator: kind: 'noise' must be one of"),
    "unknown parameter": (HEAD + BUFFER + ZEROS.replace('"zeros"', '"zeros", seed = 1'), "generator: seed: is not"),
    "no seed": (HEAD + BUFFER + 'generator = { kind = "uniform", low = 0, high = 1 }\n', "seed: is missing"),
    "NaN bound": (HEAD + BUFFER + 'generator = { kind = "uniform", low = nan, high = 1, seed = 1 }\n',
                  "low: nan must be a finite number"),
    "bounds exchanged": (HEAD + BUFFER + 'generator = { kind = "uniform", low = 2, high = 1, seed = 1 }\n',
                         "high: 1 must be greater than low = 2"),
    "uniform integers": (HEAD + BUFFER.replace("float32", "int8")
                         + 'generator = { kind = "uniform", low = 0, high = 1, seed = 1 }\n', "use integers"),
    "integers out of range": (HEAD + BUFFER.replace("float32", "int8")
                              + 'generator = { kind = "integers", low = 0, high = 129, seed = 1 }\n',
                              "high: 128 is out of the range of int8"),
    "huge number": (HEAD + SCALAR.replace("s32", "f64").replace("5", "1" + "0" * 400), "is out of the range of"),
    "sequence out of range": (HEAD + BUFFER + 'generator = { kind = "arange", step = 1e38 }\n',
                              "is out of the range of float32"),
    "sequence not whole": (HEAD + BUFFER.replace("float32", "int8") + 'generator = { kind = "arange", step = 0.5 }\n',
                           "step: 0.5 must be a whole number"),
    "step beyond all floats": (HEAD + BUFFER + f'generator = {{ kind = "arange", step = {10**400} }}\n',
                               "must be a finite number"),
    "no such array": (HEAD + BUFFER + 'file = "absent.npy"\n', "No such file or directory; paths are relative"),
    "no array": (HEAD + BUFFER + 'file = "text.npy"\n', "text.npy: not an .npy file of numbers"),
    "objects": (HEAD + '[[arguments]]\nname = "x"\nfile = "objects.npy"\n', "not an .npy file of numbers"),
    "complex": (HEAD + '[[arguments]]\nname = "x"\nfile = "complex.npy"\n', "holds complex64; must be one of"),
    "empty array": (HEAD + '[[arguments]]\nname = "x"\nfile = "empty.npy"\n', "empty.npy"),
    "array of other dtype": (HEAD + BUFFER.replace("float32", "int32") + 'file = "ones.npy"\n',
                             "holds float32, wanted is int32; convert it or change dtype"),
    "array of other shape": (HEAD + BUFFER.replace("[2, 4]", "8") + 'file = "ones.npy"\n',
                             "has shape [2, 4], wanted is [8]"),
    "expect without out": (HEAD + BUFFER + ZEROS + 'expect = "ones.npy"\n', "add out = true"),
    "tolerance alone": (HEAD + BUFFER + ZEROS + "relative = 0.1\n", "relative: a tolerance goes with expect"),
    "negative tolerance": (HEAD + BUFFER + ZEROS + 'out = true\nexpect = "ones.npy"\nabsolute = -1\n',
                           "absolute: -1 must not be negative"),
    "NaN tolerance": (HEAD + BUFFER + ZEROS + 'out = true\nexpect = "ones.npy"\nabsolute = nan\n',
                      "absolute: nan must be a finite number"),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_with_file_and_key(write, text, message):
    path = write(text)
    with pytest.raises(LaunchError) as error:
        load(path)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_a_file_that_does_not_exist(tmp_path):
    with pytest.raises(LaunchError, match=r"absent\.toml: No such file or directory: name a launch file"):
        load(tmp_path / "absent.toml")


@given(st.text(max_size=200))
def test_no_text_gets_past_the_reader_without_a_launch_error(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("text") / "launch.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LaunchError):  # a random text does not name an existing PTX file
        load(path)


def test_exact_expectations_compare_bits():
    expectation = Expectation("x", np.array([[0.0, np.nan], [1.0, 2.0]], np.float32))
    assert expectation.mismatch(expectation.array.copy()) is None
    assert expectation.mismatch(np.array([[-0.0, np.nan], [1.0, 3.0]], np.float32)) == (
        "x: 2 of 4 elements differ (bit-exact); the first is x[0, 0] = -0.0, expected 0.0")


@pytest.mark.parametrize(("actual", "fits"), [(10.2, True), (10.3, False), (9.8, True), (np.nan, False)])
def test_tolerances_add_up(actual, fits):
    expectation = Expectation("x", np.array([10.0]), absolute=0.1, relative=0.011)
    assert (expectation.mismatch(np.array([actual])) is None) is fits


def test_the_bound_of_short_floats_is_not_rounded():
    """Halves of 16 bits: twice 60,000 is more than they have, as is the bound of 90,000."""
    expectation = Expectation("x", np.array([-60000, 1], np.float16), relative=1.5)
    assert expectation.mismatch(np.array([30000, 2.5], np.float16)) is None
    wrong = expectation.mismatch(np.array([60000, 2.5], np.float16))
    assert wrong is not None and "1 of 2 elements differ" in wrong and "the first is x[0]" in wrong


def test_a_tolerance_without_bound_is_no_warning():
    expectation = Expectation("x", np.array([10.0]), relative=1e308)
    assert expectation.mismatch(np.array([1e300])) is None
