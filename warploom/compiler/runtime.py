"""Device functions that nvcc declares but never defines, in PTX: they end in a store to the console.

`printf` puts format and arguments into a record in local memory and stores the record's address to the console, which
prints and writes the result into the record. So outside functional execution a print is just a few stores.
"""

from functools import cache

from warploom.arch.memory_map import CONSOLE_ASSERT, CONSOLE_PRINT
from warploom.compiler import ptx
from warploom.compiler.parser import parse

_ASSERT = """
.func {name}(.param .b64 text, .param .b64 file, .param .b32 line, .param .b64 function{more})
{{
    .local .align 8 .b8 record[32];
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.b64 %rd1, [text];
    ld.param.b64 %rd2, [file];
    ld.param.b64 %rd3, [function];
    ld.param.b32 %r1, [line];
    st.local.b64 [record], %rd1;
    st.local.b64 [record+8], %rd2;
    st.local.b64 [record+16], %rd3;
    st.local.b32 [record+24], %r1;
    mov.b64 %rd4, record;
    cvt.u32.u64 %r2, %rd4;
    st.global.b32 [{console}], %r2;
    trap;
}}
"""

_PRINT = """
.func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments)
{{
    .local .align 8 .b8 record[24];
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [format];
    ld.param.b64 %rd2, [arguments];
    st.local.b64 [record], %rd1;
    st.local.b64 [record+8], %rd2;
    mov.b64 %rd3, record;
    cvt.u32.u64 %r1, %rd3;
    st.global.b32 [{console}], %r1;
    ld.local.b32 %r2, [record+16];
    st.param.b32 [result], %r2;
    ret;
}}
"""

_HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"

SOURCES = {
    "vprintf": _PRINT.format(console=CONSOLE_PRINT),
    "__assertfail": _ASSERT.format(name="__assertfail", more=", .param .b64 character_bytes", console=CONSOLE_ASSERT),
    "__assert_fail": _ASSERT.format(name="__assert_fail", more="", console=CONSOLE_ASSERT),
}
"""PTX of each function by name."""


@cache
def function(name: str) -> ptx.Function:
    """The function of that name; one of `SOURCES`."""
    return parse(_HEADER + SOURCES[name], f"<{name}>").functions[0]
