// The threads of a block as fibres. Barriers, votes and shuffles are meeting points: a fibre that arrives leaves its
// operand and waits until all that take part are there.
struct Place { u32 x, y, z; };
static Place threadIdx, blockIdx, blockDim, gridDim;
static u32 dynamic_shared[1024];

enum Wait { READY, WARP, BLOCK, GONE };
struct Fibre {
    ucontext_t context;
    Place place;
    Wait wait;
    u32 members;    // of a meeting of the warp
    u64 given;      // what the thread brings
    u64 seen[32];   // what the members brought, as they met
    char *stack;
};
static const u32 MOST = 256, STACK = 1 << 16;
static Fibre fibres[MOST];
static u32 threads, current;
static ucontext_t scheduler;
static void (*body)();

static void wait(Wait why) {
    fibres[current].wait = why;
    swapcontext(&fibres[current].context, &scheduler);
}
static void enter() {
    body();
    wait(GONE);
}
static u32 lane() { return current & 31; }
static const u64 *meet(u32 members, u64 given) {
    Fibre &own = fibres[current];
    own.members = members, own.given = given;
    wait(WARP);
    return own.seen;
}
static u64 meet_block(u64 given) { // the sum of what all threads bring
    fibres[current].given = given;
    wait(BLOCK);
    return fibres[current].seen[0];
}
static bool open_warp(u32 first, u32 members) {
    u32 size = threads - first < 32 ? threads - first : 32;
    u32 present = size == 32 ? ~0u : (1u << size) - 1;
    for (u32 i = 0; i < size; i++) {
        Fibre &f = fibres[first + i];
        if (members >> i & 1 && (f.wait != WARP || f.members != members)) return false;
    }
    for (u32 i = 0; i < size; i++) {
        if (!(members & present) || !(members >> i & 1)) continue;
        for (u32 j = 0; j < size; j++) fibres[first + i].seen[j] = fibres[first + j].given;
        fibres[first + i].wait = READY;
    }
    return true;
}
static bool open_block() {
    u64 sum = 0;
    bool any = false;
    for (u32 i = 0; i < threads; i++) {
        if (fibres[i].wait != BLOCK && fibres[i].wait != GONE) return false;
        if (fibres[i].wait == BLOCK) sum += fibres[i].given, any = true;
    }
    for (u32 i = 0; i < threads; i++)
        if (fibres[i].wait == BLOCK) fibres[i].seen[0] = sum, fibres[i].wait = READY;
    return any;
}
static bool turn() {
    bool moved = false;
    for (current = 0; current < threads; current++) {
        if (fibres[current].wait != READY) continue;
        threadIdx = fibres[current].place;
        swapcontext(&scheduler, &fibres[current].context);
        moved = true;
    }
    for (u32 i = 0; i < threads; i++)
        if (fibres[i].wait == WARP) moved |= open_warp(i & ~31u, fibres[i].members);
    return moved | open_block();
}
static void run_block() {
    threads = blockDim.x * blockDim.y;
    for (u32 i = 0; i < threads; i++) {
        Fibre &f = fibres[i];
        if (!f.stack) f.stack = (char *)malloc(STACK);
        f.place = {i % blockDim.x, i / blockDim.x, 0};
        f.wait = READY;
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack;
        f.context.uc_stack.ss_size = STACK;
        f.context.uc_link = &scheduler;
        makecontext(&f.context, enter, 0);
    }
    while (turn()) {}
    for (u32 i = 0; i < threads; i++)
        if (fibres[i].wait != GONE) fprintf(stderr, "deadlock of the host's threads\n"), exit(3);
}
static void launch(Place grid, Place block, void (*kernel)()) {
    gridDim = grid, blockDim = block, body = kernel;
    for (u32 i = 0; i < grid.x; i++) blockIdx = {i, 0, 0}, run_block();
}
