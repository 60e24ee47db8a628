// What a program can find out about the GPU: one device, of the machine that warploom cuda simulates.
#pragma once
#include <cstring>

#include "client.h"

struct Device {                          // the answer to DEVICE; behind it is the name
    u64 sms, warps, shared, registers, blocks, capability, memory, clock;
};

inline std::string device_name;

inline const Device& device() {
    static const Device found = [] {
        Device made{};
        const Answer answer = ask(Verb::DEVICE);
        if (answer.data.size() > sizeof made) {
            std::memcpy(&made, answer.data.data(), sizeof made);
            device_name = answer.data.substr(sizeof made);
        }
        return made;
    }();
    return found;
}

constexpr int WARP = 32, THREADS = 1024, BLOCK[] = {1024, 1024, 64}, GRID[] = {0x7FFFFFFF, 65535, 65535};
constexpr int CONSTANT = 65536, ALIGNMENT = 512, PITCH = 0x7FFFFFFF;

inline int attribute(int which) {        // by its number in cudaDeviceAttr
    const Device& is = device();
    switch (which) {
        case 1: return THREADS;
        case 2: case 3: case 4: return BLOCK[which - 2];
        case 5: case 6: case 7: return GRID[which - 5];
        case 8: case 81: case 97: return is.shared;         // of a block, of an SM, of a block that asks for more
        case 9: return CONSTANT;
        case 10: return WARP;
        case 11: return PITCH;
        case 12: case 82: return is.registers;
        case 13: return is.clock;                           // kHz
        case 14: case 51: return ALIGNMENT;
        case 16: return is.sms;
        case 39: return WARP * is.warps;
        case 19: case 41: case 83: case 95: return 1;       // maps memory of the host, has the same addresses for it,
                                                            // managed memory, cooperative launches
        case 75: return is.capability / 10;
        case 76: return is.capability % 10;
        case 106: return is.blocks;
        default: return 0;
    }
}

struct Properties {                      // cudaDeviceProp
    char name[256], uuid[16], luid[8];
    unsigned node;
    std::size_t memory, shared;
    int registers, warp;
    std::size_t pitch;
    int threads, block[3], grid[3];
#if CUDART_MAJOR < 13
    int clock;
#endif
    std::size_t constant;
    int major, minor;
    std::size_t alignment, pitch_alignment;
#if CUDART_MAJOR < 13
    int overlap;
#endif
    int sms;
#if CUDART_MAJOR < 13
    int timeout;
#endif
    int integrated, maps_host;
#if CUDART_MAJOR < 13
    int mode, textures[40];
#else
    int textures[39];
#endif
    std::size_t surface_alignment;
    int concurrent, ecc, bus, number, domain, driver, engines, unified;
#if CUDART_MAJOR < 13
    int memory_clock;
#endif
    int memory_width, l2, l2_persisting, sm_threads, priorities, global_l1, local_l1;
    std::size_t sm_shared;
    int sm_registers, managed, board, group, host_atomics;
#if CUDART_MAJOR < 13
    int double_ratio;
#endif
    int pageable, concurrent_managed, preemption, registered, cooperative;
#if CUDART_MAJOR < 13
    int cooperative_devices;
#endif
    std::size_t shared_at_most;
    int page_tables, direct_access, sm_blocks, window;
    std::size_t shared_reserved;
#if CUDART_MAJOR > 11
    int others[76];
#endif
};

inline Properties properties() {
    const Device& is = device();
    Properties made{};
    std::snprintf(made.name, sizeof made.name, "%s", device_name.c_str());
    made.memory = is.memory;
    made.shared = made.sm_shared = made.shared_at_most = is.shared;
    made.registers = made.sm_registers = is.registers;
    made.warp = WARP;
    made.pitch = PITCH;
    made.threads = THREADS;
    std::memcpy(made.block, BLOCK, sizeof BLOCK);
    std::memcpy(made.grid, GRID, sizeof GRID);
#if CUDART_MAJOR < 13
    made.clock = is.clock;
#endif
    made.constant = CONSTANT;
    made.major = attribute(75);
    made.minor = attribute(76);
    made.alignment = made.pitch_alignment = made.surface_alignment = ALIGNMENT;
    made.sms = is.sms;
    made.sm_threads = WARP * is.warps;
    made.sm_blocks = is.blocks;
    made.maps_host = made.unified = made.managed = made.cooperative = 1;
    return made;
}
