// The Verilated datapath without a bench: how fast it goes when nobody looks. argv: cycles, stride. stdin: instructions
// for the issue port, one hexadecimal 32-bit word after the other, the least significant one first. Prints seconds.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

int main(int, char** argv) {
    const long cycles = std::atol(argv[1]);
    Vtop top;
    constexpr std::size_t words = sizeof(top.issue___05Fpayload) / sizeof(uint32_t);
    std::vector<uint32_t> program;
    for (uint32_t word; std::scanf("%x", &word) == 1;) program.push_back(word);
    const std::size_t instructions = program.size() / words;

    top.stride = std::atoi(argv[2]);
    top.rst = 1;
    cycle(top);
    cycle(top);
    top.rst = 0;
    top.issue___05Fvalid = 1;
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < cycles; ++i) {
        const uint32_t* next = &program[i % instructions * words];
        for (std::size_t word = 0; word < words; ++word) top.issue___05Fpayload[word] = next[word];
        cycle(top);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.9f\n", seconds.count());
    return 0;
}
