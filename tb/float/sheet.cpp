// Executes cases on a Verilated unit (sheet.py). argv: the file of cases, inflated; then what Verilator's runtime reads.
// A case has the bytes of the port `operands` and of the expected outputs, in the order of ports.h. The unit takes a case
// in each cycle in which it is ready. Prints JSON: cases, cycles, and the first case that differs.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "Vtop.h"
#include "ports.h"
#include "verilated.h"

constexpr long PATIENCE = 1000;  // cycles without a result after which a unit is dead

struct Port { const char* name; uint8_t* at; std::size_t size; };

double sc_time_stamp() { return 0; }

static uint8_t* find(const std::vector<Port>& ports, const char* name) {
    for (const Port& port : ports)
        if (!std::strcmp(port.name, name)) return port.at;
    return nullptr;
}

static void cycle(Vtop& top) {
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
}

int main(int argc, char** argv) {
    std::FILE* file = std::fopen(argv[1], "rb");
    if (!file) return 2;
    Verilated::commandArgs(argc, argv);
    Vtop top("");
    std::vector<Port> inputs, outputs, compared;
#define INPUT(port) inputs.push_back({#port, reinterpret_cast<uint8_t*>(&top.port), sizeof top.port});
#define OUTPUT(port) outputs.push_back({#port, reinterpret_cast<uint8_t*>(&top.port), sizeof top.port});
    INPUTS(INPUT)
    OUTPUTS(OUTPUT)
    const uint8_t *done = find(outputs, "done"), *ready = find(outputs, "ready");
    uint8_t *valid = find(inputs, "valid"), *operands = find(inputs, "operands");
    const std::size_t given = sizeof top.operands;
    std::size_t size = given;
    for (const Port& port : outputs)
        if (port.at != done && port.at != ready) compared.push_back(port), size += port.size;

    std::vector<uint8_t> cases;
    uint8_t chunk[1 << 16];
    while (const std::size_t got = std::fread(chunk, 1, sizeof chunk, file)) cases.insert(cases.end(), chunk, chunk + got);
    const long count = cases.size() / size;

    for (const Port& port : inputs) std::memset(port.at, 0, port.size);
    top.clk = 0;
    top.rst = 1;
    top.eval();
    for (int i = 0; i < 4; ++i) cycle(top);
    top.rst = 0;
    top.eval();

    long entered = 0, left = 0, cycles = 0, differs = -1, last = 0;
    while (left < count && differs < 0 && cycles - last < PATIENCE) {
        *valid = entered < count && (!ready || *ready);
        if (*valid) std::memcpy(operands, &cases[size * entered++], given);
        top.eval();
        if (*done) {
            const uint8_t* expected = &cases[size * left + given];
            for (const Port& port : compared) {
                if (std::memcmp(port.at, expected, port.size)) differs = left;
                expected += port.size;
            }
            ++left;
            last = cycles;
        }
        cycle(top);
        ++cycles;
    }
    std::printf("{\"cases\": %ld, \"cycles\": %ld, \"differs\": %ld}\n", left, cycles, differs);
    return 0;
}
