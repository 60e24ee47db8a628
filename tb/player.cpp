// Replays a tape (tape.py) on the Verilated datapath. argv: the tape, inflated; cycles of reset; whether to compare (1)
// or only to drive (0); then what Verilator's runtime reads. ports.h lists the ports, INPUTS and OUTPUTS, in the order
// of the slots. Prints JSON: cycles, seconds of the loop, and the first port that differs, in the last of these cycles.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "Vtop.h"
#include "ports.h"
#include "verilated.h"

constexpr int WRITE = 0xFE, END = 0xFF;
constexpr std::size_t BYTES = 128;  // of a warp register
constexpr uint8_t POISON = 0xA5;    // what a bank holds where nothing was stored yet

struct Slot { uint8_t* at; std::size_t size; };
struct Output { const char* name; const uint8_t* at; std::vector<uint8_t> expected, mask; };
struct Write { uint32_t bank, address; uint8_t enables[BYTES / 8], columns[BYTES], mask[BYTES]; };
using Register = std::array<uint8_t, BYTES>;

double sc_time_stamp() { return 0; }

static bool same(const uint8_t* a, const uint8_t* b, const uint8_t* mask, std::size_t size) {
    uint8_t wrong = 0;
    for (std::size_t i = 0; i < size; ++i) wrong |= (a[i] ^ b[i]) & mask[i];
    return !wrong;
}

static bool stored(const Write& write, const uint8_t* data, const uint8_t* enables, Register& held) {
    for (std::size_t i = 0; i < BYTES; ++i)
        if ((enables[i / 8] & write.enables[i / 8]) >> i % 8 & 1) held[i] = data[i];
    return same(held.data(), write.columns, write.mask, BYTES);
}

static void cycle(Vtop& top) {
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
}

int main(int argc, char** argv) {
    std::FILE* tape = std::fopen(argv[1], "rb");
    const int reset = std::atoi(argv[2]);
    const bool compare = std::atoi(argv[3]);
    if (!tape) return 2;
    std::setvbuf(tape, nullptr, _IOFBF, 1 << 20);
    Verilated::commandArgs(argc, argv);
    Vtop top("");  // named as in the simulator of the benches: power-up contents follow from seed and names

    std::vector<Slot> slots;
    std::vector<Output> outputs;
#define INPUT(port) slots.push_back({reinterpret_cast<uint8_t*>(&top.port), sizeof top.port});
#define OUTPUT(port) outputs.push_back({#port, reinterpret_cast<uint8_t*>(&top.port), \
        std::vector<uint8_t>(sizeof top.port), std::vector<uint8_t>(sizeof top.port)});
    INPUTS(INPUT)
    OUTPUTS(OUTPUT)
    for (const Slot& input : slots) std::memset(input.at, 0, input.size);
    for (Output& output : outputs) slots.push_back({output.expected.data(), output.expected.size()});
    for (Output& output : outputs) slots.push_back({output.mask.data(), output.mask.size()});
    const auto* data = reinterpret_cast<const uint8_t*>(&top.stored_data);
    const auto* enables = reinterpret_cast<const uint8_t*>(&top.stored_bytes);
    std::vector<Register> banks;

    top.clk = 0;
    top.rst = 1;
    top.eval();
    for (int i = 0; i < reset; ++i) cycle(top);
    top.rst = 0;

    long cycles = 0;
    const char* differs = nullptr;
    const auto start = std::chrono::steady_clock::now();
    for (int item; (item = std::getc(tape)) != EOF;) {
        if (item < WRITE) {
            const Slot& slot = slots.at(item);
            if (std::fread(slot.at, slot.size, 1, tape) != 1) return 2;
        } else if (item == WRITE) {
            Write write;
            if (std::fread(&write, sizeof write, 1, tape) != 1) return 2;
            if (write.address >= banks.size()) {
                Register poison;
                poison.fill(POISON);
                banks.resize(write.address + 1, poison);
            }
            if (compare && !stored(write, data + BYTES * write.bank, enables + BYTES / 8 * write.bank,
                                   banks[write.address]) && !differs) differs = "stored_data";
        } else {
            for (const Output& output : outputs)
                if (compare && !differs
                        && !same(output.at, output.expected.data(), output.mask.data(), output.mask.size()))
                    differs = output.name;
            ++cycles;
            if (differs) break;
            cycle(top);
        }
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("{\"cycles\": %ld, \"seconds\": %.9f, \"differs\": ", cycles, seconds.count());
    std::printf(differs ? "\"%s\"}\n" : "null}\n", differs);
    if (std::fflush(stdout)) return 4;  // a full disk, for example
    return Verilated::threadContextp()->errorCount() ? 3 : 0;
}
