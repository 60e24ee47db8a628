"""Instruction selection: a flat PTX kernel becomes machine nodes over virtual registers.

Each instruction is looked up by mnemonic and type in `registry.TABLE`, which the families fill when imported here.
"""

from warploom.arch.errors import PtxError
from warploom.arch.isa import Op
from warploom.compiler import (  # noqa: F401 - the families register themselves
    lower_atomic,
    lower_bits,
    lower_compare,
    lower_control,
    lower_convert,
    lower_copy,
    lower_float,
    lower_half,
    lower_integer,
    lower_matrix,
    lower_memory,
    lower_move,
    lower_packed,
    lower_warp,
    ptx,
)
from warploom.compiler.carry import flags
from warploom.compiler.emitter import Emitter, width
from warploom.compiler.ir import Function, Label, Node, RegisterClass, VirtualRegister
from warploom.compiler.registry import TABLE, supported
from warploom.compiler.simplify import simplify
from warploom.compiler.symbols import as_written, layout_parameters

OUTLINE = ("integer, bit, compare, f32, f64, f16 and bf16 arithmetic, cvt, mov, ld, st, atom, red, warp votes and "
           "shuffles, cp.async, ldmatrix, stmatrix, barriers and branches; not textures, surfaces, mma, wmma, wgmma, "
           "bulk copies, clusters")

PRODUCTS = ("mma", "wmma", "wgmma")
"""Instructions of tensor cores."""


def lower(kernel: ptx.Kernel, *, optimise: bool = True) -> Function:
    """The kernel in machine nodes, simplified if `optimise`. Raises `PtxError` for unsupported instructions."""
    function = Function(kernel, layout_parameters(kernel))
    for name, type_ in kernel.registers.items():
        function.names[name] = _registers(function, name, type_)
    carry = function.new(RegisterClass.PREDICATE)
    for item, borrow in zip(kernel.body, flags(kernel.body), strict=True):
        if isinstance(item, ptx.Label):
            function.body.append(Label(item.name))
        else:
            function.body += _lower_instruction(Emitter(function, item, carry, borrow))
    if not _ends(function):
        function.body.append(Node(Op.EXIT, line=kernel.body[-1].line if kernel.body else kernel.line))
    if optimise:
        simplify(function)
    lower_control.place_barriers(function)
    lower_warp.place_members(function)
    return function


def _registers(function: Function, name: str, type_: str) -> tuple[VirtualRegister, ...]:
    if type_ == "pred":
        return (function.new(RegisterClass.PREDICATE),)
    if type_ not in ptx.TYPE_BYTES or width(type_) > 64:
        raise PtxError(f"register {as_written(name)}: type .{type_} is not supported; registers have up to 64 bits",
                       file=function.kernel.file, line=function.kernel.line)
    return function.new_pair() if width(type_) == 64 else (function.new(),)


def _lower_instruction(e: Emitter) -> list[Node | Label]:
    opcode = e.instruction.opcode
    forms = TABLE.get(opcode)
    if opcode in PRODUCTS:
        e.fail("products of matrices are not supported: compile the kernel so that it computes them with fma, in "
               "Triton for sm_70, or of float32 with input_precision=\"ieee\"")
    if forms is None:
        e.fail(f"not supported; supported are {OUTLINE}")
    entry = forms.get(e.types[-1] if e.types else None)
    if entry is None:
        e.fail(f"this type is not supported for {opcode}; supported: {supported(opcode)}")
    if len(e.types) > entry.type_count:
        e.fail(f"too many types for {opcode}; supported: {entry.supports}")
    e.supports = entry.supports
    entry.lower(e)
    if e.leftover:
        e.fail(f".{e.leftover[0]} is not supported for {opcode}; supported: {entry.supports}")
    return e.finish()


def _ends(function: Function) -> bool:
    """True when control cannot fall off the end."""
    last = function.body[-1] if function.body else None
    return isinstance(last, Node) and last.op in (Op.BRA, Op.EXIT) and last.guard is None
