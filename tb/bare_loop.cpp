// The Verilated datapath without a bench: how fast it goes when nobody looks. Prints the seconds of argv[1] cycles.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "Vtop.h"
#include "verilated.h"

// Verilator writes a double underscore in a name as ___05F.

double sc_time_stamp() { return 0; }

static void cycle(Vtop& top) {
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
}

int main(int argc, char** argv) {
    const long cycles = argc > 1 ? std::atol(argv[1]) : 1;
    Verilated::commandArgs(argc, argv);
    Vtop top;
    top.rst = 1;
    cycle(top);
    cycle(top);
    top.rst = 0;
    // Something to do: an instruction with changing operands and a result from outside, every cycle.
    uint32_t noise = 1;
    top.issue___05Fvalid = 1;
    top.credit_mem = top.credit_sfu = 1;
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < cycles; ++i) {
        noise = noise * 1664525U + 1013904223U;
        top.issue___05Fpayload[0] = noise;
        top.issue___05Fpayload[3] = noise >> 7;
        cycle(top);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.9f\n", seconds.count());
    return 0;
}
