"""Bugs for every pass of the compiler, as someone might write them."""

from planted import Bug

SIMPLIFY = (
    Bug("simplify:_propagate", "writes[node.dst] == 1", "writes[node.dst] >= 1",
        "a register that is written twice keeps its first constant"),
    Bug("simplify:_substitute", "slot == 0 and node.has_address", "node.op in MEMORY_OPS",
        "constants to store, or to compare with in an atomic, are added to the address"),
    Bug("simplify:_into_offset", "node.imm + value", "value", "an offset is lost where the address becomes known"),
    Bug("simplify:_reduce", "Imm(32 - places)", "Imm(31 - places)", "the high half of x * 2**k is shifted too little"),
    Bug("simplify:_reduce", "node.psrc is None and node.pdst is None", "node.pdst is None",
        "x + 0 + carry becomes a copy"),
    Bug("simplify:_dead", "(node in high and high[node] not in dead)", "False",
        "an instruction whose high word alone is read goes"),
)
FUSE = (
    Bug("fuse:_is_sum", " and low.dst not in product.factors", "", "the low word of a sum overwrites a factor"),
    Bug("fuse:fuse_multiply_add", "products.pop(low, None)", "pass",
        "a factor changes between product and sum"),
    Bug("fuse:_fused", "psrc=high.psrc", "psrc=None", "the carry of base + index * stride is lost"),
    Bug("fuse:fuse_multiply_add", "writes[register] == reads[register] == 1", "writes[register] == 1",
        "a product that is read again is gone"),
)
IF_CONVERSION = (
    Bug("if_conversion:_guarded", "node.op in MEMORY_OPS or any(map(is_live, node.writes))",
        "any(map(is_live, node.writes))",
        "a store on one side of a branch is executed by all"),
    Bug("if_conversion:_convertible", "node.guard is None and ", "", "a second guard replaces the first"),
    Bug("if_conversion:_is_side", "flow.predecessors[side] == [index]", "True",
        "a block that others jump to is guarded"),
    Bug("if_conversion:_guarded", "if not is_live(r)", "",
        "what a side leaves for those behind it goes to a local register"),
)
WIDE = (
    Bug("wide:compare", "STRICT.get(cond, cond)", "cond", "64-bit <= holds where the high words are equal"),
    Bug("wide:multiply_high", "psrc=(carries[2], False), high=True", "high=True",
        "a carry of the 128-bit product is lost"),
    Bug("wide:shift_right", "e.emit(Op.SHF, high, a[1], None, amount, right=True, signed=signed)",
        "e.emit(Op.SHF, high, a[1], None, amount, right=True)", "the sign of a 64-bit shift is lost"),
    Bug("wide:excess", "psrc=(below, False)", "psrc=(below, True)", "64-bit shifts by less than 32 are shifted twice"),
    Bug("wide:multiply", "e.op(Op.IMAD, a[0], b[1], top)", "top", "one cross product of 64 bits is left out"),
    Bug("wide:add_sub", "psrc=carry_in", "psrc=(None, False)", "the carry between 64-bit words of a 128-bit sum"),
    Bug("wide:absolute", "(mask, mask)", "(mask, None)", "the absolute value of a 64-bit number"),
)
LOWER = (
    Bug("lower_atomic:_emit", '.replace("B", "U")', '.replace("B", "U").replace("S", "U")',
        "atomic min and max are unsigned"),
    Bug("lower_atomic:_swap_half", "constant(2)), constant(3)", "constant(2)), constant(2)",
        "a 16-bit swap in the upper half of its word"),
    Bug("lower_atomic:_emit", "if len(d) == 2:", "if len(d) == 3:", "the high word of what a 64-bit atomic returns"),
    Bug("lower_bits:logic", '"or": OR', '"or": XOR', "or is exclusive"),
    Bug("lower_bits:_extract_signed", "_at_most(e, _add(e, position, length), bits)", "_add(e, position, length)",
        "signed fields that reach beyond the word"),
    Bug("lower_bits:find", "a = tuple(e.logic(XOR, word, mask_) for word in a)", "pass", "bfind of negative numbers"),
    Bug("lower_bits:funnel_shift", "wrap=wrap", "wrap=False", "funnel shifts by more than 31"),
    Bug("lower_bits:shift", "signed=True)", "signed=False)", "the sign of a 32-bit shift is lost"),
    Bug("lower_compare:Comparison.emit", "signed=is_signed(self.type), dst=dst)", "signed=False, dst=dst)",
        "64-bit comparisons are unsigned"),
    Bug("lower_compare:select_by_sign", "pdst=chosen, cond=Cond.GE, signed=True",
        "pdst=chosen, cond=Cond.GT, signed=True",
        "slct of zero"),
    Bug("lower_convert:_integer", "(low <= lowest and highest <= high)", "highest <= high",
        "negative numbers cut to fewer bits"),
    Bug("lower_convert:put", "if is_signed(type_) else None", "if False else None",
        "the sign of what is converted to 64 bits"),
    Bug("lower_convert:_clamp", "signed=signed),)", "signed=True),)", "saturation of large unsigned numbers"),
    Bug("lower_float:divide", "rounding=rounding, ftz=ftz)", "ftz=ftz)", "directed rounding of quotients"),
    Bug("lower_float:multiply_add64", "(*a, b[0])", "(*a, b[1])", "a factor of a 64-bit fma is latched wrongly"),
    Bug("lower_float:change_sign", "(AND, SIGN - 1) if is_abs else (XOR, SIGN)", "(AND, SIGN - 1)", "negation"),
    Bug("lower_integer:_low24", "if not is_signed(e.type)", "if True", "24-bit factors are unsigned"),
    Bug("lower_integer:_product_high", "signed=is_signed(e.type)", "signed=False", "the high word of signed products"),
    Bug("lower_integer:dp2a", "(2 * k + 1) << 4", "(2 * k) << 4", "the halves of dp2a"),
    Bug("lower_memory:load", "number * ptx.TYPE_BYTES[e.type]", "number * 4", "vectors of other than 32-bit elements"),
    Bug("lower_memory:_load_word", "Param(offset)", "Param(offset & ~7)", "the second of two parameter words"),
    Bug("lower_memory:store", "+ 4 * index", "", "the high words of 64-bit stores"),
    Bug("lower_move:convert_address", "None if to else constant(WINDOWS[space] >> 32)", "None",
        "generic addresses of shared and local memory are taken for global ones"),
    Bug("lower_warp:shuffle", "e.emit(Op.SHFL, dst, a, b, c,", "e.emit(Op.SHFL, dst, a, b, constant(31),",
        "shuffles within parts of a warp"),
)
ANALYSIS = (
    Bug("liveness:kills", "if node.guard is None else", "if True else",
        "a guarded write ends the life of the old value"),
    Bug("liveness:_solve", "for user in users[block]:", "for user in users[block][:1]:", "liveness around loops"),
    Bug("allocate:colour", "place[other] - half", "place[other]", "what the high half of a pair clashes with"),
    Bug("allocate:_Allocator._storage", "Slot(self.local_bytes - 4)", "Slot(self.local_bytes - 8)",
        "spill slots overlap"),
)
SPILL = (
    Bug("spill:_needs_old_value", "register in node.reads or (node.guard is not None and not register.local)",
        "register in node.reads", "the lanes in which a spilled guarded write does not happen"),
    Bug("spill:_stays_at_home", "source is not None and source == destination", "source is not None",
        "a copy of a spilled register"),
    Bug("spill:_keep", "psrc=temporary", "psrc=None", "a spilled predicate is always true"),
)
FLOW = (
    Bug("emit:_kept", "<= next_code:", "<= next_code + 1:", "a branch around code goes"),
    Bug("emit:_branch_fields", "NO_RECONVERGENCE if meet == EXIT_BLOCK else starts[meet]", "NO_RECONVERGENCE",
        "lanes that have parted do not meet"),
    Bug("emit:_copies_to_itself", "place[source.number] == place[node.dst.number]",
        "place[source.number] >> 1 == place[node.dst.number] >> 1", "copies between the halves of a pair"),
    Bug("cfg:_link", "last.op in (Op.BRA, Op.EXIT) and last.guard is None", "last.op in (Op.BRA, Op.EXIT)",
        "code behind a guarded branch is unreachable"),
    Bug("cfg:ControlFlow.postdominators", "block.successors or (end,)", "block.successors[-1:] or (end,)",
        "lanes meet where only one side comes"),
    Bug("cfg:_split", "if blocks[-1].nodes:", "if len(blocks[-1].nodes) > 1:", "a label joins the block before it"),
)
LINK = (
    Bug("inline:Inliner._inline", "zip(formals, given, strict=True)",
        "zip(formals, given[:1] * len(given), strict=True)",
        "all parameters of a function are its first one"),
    Bug("initialiser:encode", "index * size", "index", "initialisers of elements larger than a byte"),
    Bug("images:_image", "kernel.base[symbol.name] + symbol.offset", "kernel.base[symbol.name]",
        "initialisers that point into an array"),
    Bug("images:_place", "-(-end // variable.alignment) * variable.alignment", "end", "variables that need alignment"),
    Bug("images:lay_out", "kernel.base.update(dict.fromkeys(dynamic, kernel.shared_bytes))",
        "kernel.base.update(dict.fromkeys(dynamic, 0))", "dynamic shared memory lies over the static"),
)
HINTS = (
    Bug("writeback_hints:_latest", "if i.guarded:", "if False:", "a guarded read counts as a sure one"),
    Bug("writeback_hints:_Flow._after", "np.where(found == NEVER, found, waits)", "found", "values live across waits"),
    Bug("writeback_hints:annotate", ">= 1)", ">= 0)", "every value is transient"),
)

BUGS = (*SIMPLIFY, *FUSE, *IF_CONVERSION, *WIDE, *LOWER, *ANALYSIS, *SPILL, *FLOW, *LINK, *HINTS)
