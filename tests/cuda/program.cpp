// A program as nvcc makes it of CUDA, without its headers: kernels.cu in a container, registered before main. Each
// function is a test; the first argument names it. It prints what test_cuda.py compares.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

using Size = std::size_t;
struct Extents { unsigned x = 1, y = 1, z = 1; };
struct Pair { float scale; int offset; };
struct Pointer { int type, device; void *on_device, *on_host; long others[8]; };
struct Attributes { Size shared, constant, local; int threads, registers, ptx, binary, others[32]; };
struct Pitched { char* pointer; Size pitch, width, height; };
struct Box { Size width, height, depth; };
struct Copy3D {
    void* from_array;
    Size from_at[3];
    Pitched from;
    void* to_array;
    Size to_at[3];
    Pitched to;
    Box box;
    int kind;
};
struct Attribute { int which, unused, value, others[15]; };
struct Config { Extents grid, block; Size shared; void* stream; const Attribute* attributes; unsigned count; };
struct Channel { int x, y, z, w, kind; };
enum Kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const void*, char*, const char*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, const void*, char*, const char*, int, Size, int, int);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, Size, int, int);
char __cudaInitModule(void**);
unsigned __cudaPushCallConfiguration(Extents, Extents, Size, void*);
int __cudaPopCallConfiguration(Extents*, Extents*, Size*, void**);
int cudaLaunchKernel(const void*, Extents, Extents, void**, Size, void*);
int cudaLaunchCooperativeKernel(const void*, Extents, Extents, void**, Size, void*);
int cudaLaunchKernelExC(const Config*, const void*, void**);
int cudaFuncGetAttributes(Attributes*, const void*);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, const void*, int, Size);
int cudaMalloc(void**, Size);
int cudaMallocManaged(void**, Size, unsigned);
int cudaMallocHost(void**, Size, unsigned);
int cudaHostGetDevicePointer(void**, void*, unsigned);
int cudaMallocPitch(void**, Size*, Size, Size);
int cudaFree(void*);
int cudaFreeHost(void*);
int cudaHostGetFlags(unsigned*, void*);
int cudaMalloc3D(Pitched*, Box);
int cudaMemcpy3D(const Copy3D*);
int cudaMemset3D(Pitched, int, Box);
int cudaMemcpyPeer(void*, int, const void*, int, Size);
int cudaMemGetInfo(Size*, Size*);
int cudaFuncSetAttribute(const void*, int, int);
int cudaFuncGetName(const char**, const void*);
int cudaOccupancyAvailableDynamicSMemPerBlock(Size*, const void*, int, int);
int cudaStreamCreateWithFlags(void**, unsigned);
int cudaStreamGetFlags(void*, unsigned*);
int cudaStreamDestroy(void*);
int cudaStreamSynchronize(void*);
int cudaDeviceGetLimit(Size*, int);
int cudaDeviceSetLimit(int, Size);
Channel cudaCreateChannelDesc(int, int, int, int, int);
int cudaMemcpy(void*, const void*, Size, int);
int cudaMemcpyAsync_ptsz(void*, const void*, Size, int, void*);
int cudaMemcpy2D(void*, Size, const void*, Size, Size, Size, int);
int cudaMemset(void*, int, Size);
int cudaMemset2D(void*, Size, int, Size, Size);
int cudaMemcpyToSymbol(const void*, const void*, Size, Size, int);
int cudaMemcpyFromSymbol(void*, const void*, Size, Size, int);
int cudaGetSymbolAddress(void**, const void*);
int cudaPointerGetAttributes(Pointer*, const void*);
int cudaEventCreate(void**);
int cudaEventRecord(void*, void*);
int cudaEventElapsedTime(float*, void*, void*);
int cudaDeviceGetAttribute(int*, int, int);
int cudaGetDeviceProperties(void*, int);
int cudaGraphCreate(void**, unsigned);
int cudaDeviceSynchronize();
int cudaGetLastError();
int cudaPeekAtLastError();
const char* cudaGetErrorName(int);
const char* cudaGetErrorString(int);
}

asm(".section .rodata\n.balign 8\ncontainer: .incbin \"" CONTAINER "\"\n.previous");
extern "C" const char container[];
static const struct { int magic, version; const char* data; void* none; } wrapper = {0x466243b1, 1, container, nullptr};

static char combine, reversed, tallied, turned, greet, weights, counter;      // their addresses stand for kernels and variables

static void** module;
static int* tally;                                           // a __managed__ variable: code of nvcc has its address

__attribute__((constructor)) static void load() {
    module = __cudaRegisterFatBinary(const_cast<void*>(static_cast<const void*>(&wrapper)));
    for (const auto& [kernel, name] :
         {std::pair{&combine, "combine"}, {&reversed, "reversed"}, {&tallied, "tallied"}, {&turned, "turned"},
          {&greet, "greet"}})
        __cudaRegisterFunction(module, kernel, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterVar(module, &weights, nullptr, "weights", 0, 16, 1, 0);
    __cudaRegisterVar(module, &counter, nullptr, "counter", 0, 4, 0, 0);
    __cudaRegisterManagedVar(module, reinterpret_cast<void**>(&tally), nullptr, "tally", 0, 8, 0, 0);
    __cudaRegisterFatBinaryEnd(module);
}

static void check(int error) {
    if (error) std::printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
}

static void show(const std::vector<int>& values) {
    for (const int value : values) std::printf("%d ", value);
    std::printf("\n");
}

static int launch(const void* kernel, unsigned blocks, unsigned threads, std::vector<void*> arguments,
                  Size shared = 0) {
    Extents grid, block;                                      // as nvcc writes <<<blocks, threads, shared>>>
    void* stream = nullptr;
    __cudaPushCallConfiguration({blocks}, {threads}, shared, stream);
    __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    return cudaLaunchKernel(kernel, grid, block, arguments.data(), shared, stream);
}

template <typename T> T* device(Size count) {
    void* made;
    check(cudaMalloc(&made, count * sizeof(T)));
    return static_cast<T*>(made);
}

static std::vector<int> counted(int count) {
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i) values[i] = i;
    return values;
}

// Runs combine on 0, 1, 2, ... in arrays that the host, the GPU or both can access.
static void run(int* x, int* y, int n) {
    const int given[] = {100, 200, 300, 400};
    Pair pair{2.5F, 7};
    check(cudaMemcpyToSymbol(&weights, given, 16, 0, HOST_TO_DEVICE));
    check(launch(&combine, (n + 63) / 64, 64, {&x, &y, &pair, &n}));
}

static void arrays() {
    const int n = 70;
    int *x = device<int>(n), *y = device<int>(n), calls;
    std::vector<int> values = counted(n);
    check(cudaMemcpy(x, values.data(), n * 4, HOST_TO_DEVICE));
    run(x, y, n);
    check(cudaMemcpyAsync_ptsz(values.data(), y, n * 4, DEVICE_TO_HOST, nullptr));
    show(values);
    check(cudaMemcpyFromSymbol(&calls, &counter, 4, 0, DEVICE_TO_HOST));
    std::printf("%d\n", calls);
    check(cudaFree(x));
    check(cudaFree(y));
}

static void managed() {
    int *x, *y;
    check(cudaMallocManaged(reinterpret_cast<void**>(&x), 280, 1));
    check(cudaMallocHost(reinterpret_cast<void**>(&y), 280, 2));
    for (int i = 0; i < 70; ++i) x[i] = i, y[i] = -1;
    void* same;
    check(cudaHostGetDevicePointer(&same, y, 0));
    run(x, static_cast<int*>(same), 70);
    show({y, y + 70});
    Pointer of_x, of_y, of_stack;
    check(cudaPointerGetAttributes(&of_x, x));
    check(cudaPointerGetAttributes(&of_y, y));
    check(cudaPointerGetAttributes(&of_stack, &of_x));
    std::printf("%d %d %d\n", of_x.type, of_y.type, of_stack.type);
    check(cudaMemcpy(x, y, 280, DEFAULT));
    std::printf("%d\n", std::memcmp(x, y, 280));
    unsigned flags;
    check(cudaHostGetFlags(&flags, y));
    std::printf("%u\n", flags);
    check(cudaHostGetFlags(&flags, x));
    check(cudaFreeHost(x));
    check(cudaFree(y));
    check(cudaFree(x));
    check(cudaFreeHost(y));
}

static int kind(const void* pointer) {
    Pointer found;
    check(cudaPointerGetAttributes(&found, pointer));
    return found.type;
}

static void variables() {
    int *at, *constant, value;
    __cudaInitModule(module);                                 // as code of nvcc does before it uses tally
    show({tally, tally + 2});
    tally[1] = 10;
    check(cudaGetSymbolAddress(reinterpret_cast<void**>(&at), &counter));
    check(launch(&tallied, 1, 1, {&at}));
    check(cudaMemcpyFromSymbol(&value, &counter, 4, 0, DEFAULT));
    show({tally[0], tally[1], value, kind(tally), kind(at)});
    check(cudaMemcpyToSymbol(tally, at, 4, 4, DEVICE_TO_DEVICE));
    check(cudaMemcpyToSymbol(&weights, at, 4, 8, DEVICE_TO_DEVICE));
    check(cudaGetSymbolAddress(reinterpret_cast<void**>(&constant), &weights));
    check(cudaMemset(constant, 1, 4));
    check(cudaMemcpy(at, constant, 4, DEVICE_TO_DEVICE));
    std::vector<int> all(4);
    check(cudaMemcpyFromSymbol(all.data(), &weights, 16, 0, DEVICE_TO_HOST));
    check(cudaMemcpyFromSymbol(&value, &counter, 4, 0, DEVICE_TO_HOST));
    show({all[0], all[2], value, tally[1], kind(constant)});
    check(cudaMemcpyToSymbol(&counter, &value, 4, 0, DEVICE_TO_HOST));
    check(cudaMemcpyFromSymbol(&value, &counter, 4, 0, HOST_TO_DEVICE));
    check(cudaMemcpyToSymbol(&counter, at, 4, 0, HOST_TO_DEVICE));
    check(cudaGetSymbolAddress(reinterpret_cast<void**>(&at), &value));
    check(cudaMemset(at, 0, 5));                              // too much
    check(cudaFree(tally));
    check(cudaFree(at));
}

// Where the GPU has its variables the host already has memory.
static void taken() {
    mmap(reinterpret_cast<void*>(0x10000000), 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    void* at;
    check(cudaGetSymbolAddress(&at, &counter));
    std::fflush(stdout);
    __cudaInitModule(module);
}

// Where the GPU has its memory the host already has some.
static void occupied() {
    const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    mmap(reinterpret_cast<void*>(Size{0x70} << 40), 1 << 30, PROT_NONE, how, -1, 0);
    void* made;
    Size before, after, all;
    check(cudaMemGetInfo(&before, &all));
    check(cudaMallocManaged(&made, 4, 1));
    check(cudaMemGetInfo(&after, &all));
    std::printf("%zu\n", before - after);
}

static void rectangles() {
    void* made;
    Size pitch;
    check(cudaMallocPitch(&made, &pitch, 12, 4));
    check(cudaMemset(made, 0x7F, 4 * pitch));
    const std::vector<int> given = counted(15);
    check(cudaMemcpy2D(made, pitch, given.data(), 20, 12, 3, HOST_TO_DEVICE));   // 3 of 5 columns
    check(cudaMemset2D(static_cast<char*>(made) + 4, pitch, 0, 4, 2));
    std::vector<int> all(4 * pitch / 4), part(6, -1);
    check(cudaMemcpy(all.data(), made, 4 * pitch, DEVICE_TO_HOST));
    std::printf("%zu\n", pitch);
    for (int row = 0; row < 4; ++row) show({&all[row * pitch / 4], &all[row * pitch / 4] + 4});
    check(cudaMemcpy2D(part.data(), 8, made, pitch, 4, 3, DEVICE_TO_HOST));
    show(part);
    const Size page = getpagesize();
    void* const mapped = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const pages = static_cast<char*>(mapped);
    mprotect(pages + page, page, PROT_READ);                  // between two rows
    check(cudaMemcpy2D(pages, 2 * page, made, pitch, 4, 2, DEVICE_TO_HOST));
    std::printf("%d\n", pages[2 * page]);
}

static void volumes() {
    const Box box{3, 2, 2};
    Pitched made;
    check(cudaMalloc3D(&made, box));
    check(cudaMemset3D(made, 9, box));
    char given[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, all[12] = {};
    const Copy3D there{nullptr, {1, 1, 0}, {given, 3, 3, 2}, nullptr, {0, 0, 0}, made, {2, 1, 2}, HOST_TO_DEVICE};
    const Copy3D back{nullptr, {}, made, nullptr, {}, {all, 3, 3, 2}, box, DEVICE_TO_HOST};
    check(cudaMemcpy3D(&there));
    check(cudaMemcpy3D(&back));
    show({all, all + 12});
    std::printf("%zu %zu %zu\n", made.pitch, made.width, made.height);
}

static void shared() {
    int* x = device<int>(64);
    std::vector<int> values = counted(64);
    check(cudaMemcpy(x, values.data(), 256, HOST_TO_DEVICE));
    check(launch(&reversed, 1, 64, {&x}, 256));
    int* copy = device<int>(64);
    check(cudaMemcpy(copy, x, 256, DEVICE_TO_DEVICE));
    check(cudaMemcpy(values.data(), copy, 256, DEFAULT));
    show(values);
}

// Launches whose blocks wait for each other.
static void cooperative() {
    int *x = device<int>(64), can;
    void* arguments[] = {&x};
    std::vector<int> values = counted(64);
    check(cudaMemcpy(x, values.data(), 256, HOST_TO_DEVICE));
    check(cudaLaunchCooperativeKernel(&turned, {2}, {32}, arguments, 0, nullptr));
    const Attribute attributes[] = {{1, 0, 5, {}}, {2, 0, 1, {}}};
    const Config config{{2}, {32}, 0, nullptr, attributes, 2};
    check(cudaLaunchKernelExC(&config, &turned, arguments));
    check(cudaMemcpy(values.data(), x, 256, DEVICE_TO_HOST));
    show(values);
    check(cudaDeviceGetAttribute(&can, 95, 0));
    std::printf("%d\n", can);
    for (const void* kernel : {&turned, &greet})
        check(cudaLaunchCooperativeKernel(kernel, {100}, {32}, arguments, 0, nullptr));
    for (const unsigned threads : {0, 2048})
        check(cudaLaunchCooperativeKernel(&turned, {1}, {threads}, arguments, 0, nullptr));
    check(launch(&turned, 2, 32, {&x}));
}

static void printing() {
    std::printf("before\n");
    check(launch(&greet, 1, 2, {}));
    std::printf("after\n");
}

static void time() {
    void *start, *end, *never;
    float milliseconds;
    for (void** event : {&start, &end, &never}) check(cudaEventCreate(event));
    check(cudaEventRecord(start, nullptr));
    printing();
    check(cudaEventRecord(end, nullptr));
    check(cudaEventElapsedTime(&milliseconds, start, end));
    std::printf("%.6f\n", milliseconds);
    check(cudaEventElapsedTime(&milliseconds, start, never));
    check(cudaEventElapsedTime(&milliseconds, start, nullptr));
    check(cudaEventElapsedTime(&milliseconds, end, start));
    std::printf("%.6f\n", milliseconds);
}

static void properties() {
    for (const int attribute : {1, 4, 5, 8, 10, 11, 12, 16, 39, 75, 76, 106}) {
        int value;
        check(cudaDeviceGetAttribute(&value, attribute, 0));
        std::printf("%d ", value);
    }
    char all[2048];
    check(cudaGetDeviceProperties(all, 0));
    std::printf("\n%s\n", all);
    Attributes attributes;
    check(cudaFuncGetAttributes(&attributes, &combine));
    int blocks;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &reversed, 64, 20000));
    std::printf("%d %d %d %d\n", attributes.registers > 0, attributes.ptx, attributes.threads, blocks);
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &reversed, 2048, 0));
    Size shared, limit, unused, memory;
    check(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, &reversed, 2, 64));
    check(cudaDeviceSetLimit(1, 5000));
    check(cudaDeviceGetLimit(&limit, 1));
    check(cudaMemGetInfo(&unused, &memory));
    device<char>(1000);
    Size rest;
    check(cudaMemGetInfo(&rest, &memory));
    std::printf("%d %zu %zu %zu\n", blocks, shared, limit, unused - rest);
    const char* name;
    check(cudaFuncGetName(&name, &reversed));
    std::printf("%s %d\n", name, cudaCreateChannelDesc(32, 0, 0, 0, 2).x);
    void* stream;
    unsigned flags;
    check(cudaStreamCreateWithFlags(&stream, 1));
    check(cudaStreamGetFlags(stream, &flags));
    check(cudaStreamDestroy(stream));
    std::printf("%u\n", flags);
    check(cudaGetDeviceProperties(all, 1));
}

static void misused() {
    int *x = device<int>(4), host[4];
    const int stack = 0;
    check(cudaMemcpy(x, host, 16, DEVICE_TO_HOST));           // the wrong direction
    check(cudaMemcpy(x, host, 17, HOST_TO_DEVICE));           // too much
    check(cudaMemcpyToSymbol(&weights, host, 8, 12, HOST_TO_DEVICE));
    check(cudaMemcpyToSymbol(&stack, host, 4, 0, HOST_TO_DEVICE));
    check(cudaFree(x + 1));
    check(cudaFree(nullptr));
    void* much;
    check(cudaMalloc(&much, Size{1} << 40));
    check(launch(&stack, 1, 1, {}));
    check(cudaGraphCreate(&much, 0));
    const int peeked = cudaPeekAtLastError(), got = cudaGetLastError();
    std::printf("%d %d %d\n", peeked, got, cudaGetLastError());
    check(cudaFree(x));
    check(cudaMemset(x, 0, 16));                              // freed
    check(cudaMemcpy(nullptr, host, 16, HOST_TO_DEVICE));
    check(cudaMemcpy(host, host + 1, 4, HOST_TO_DEVICE));
    check(cudaMemcpy(nullptr, host, 0, HOST_TO_DEVICE));      // nothing to do
    check(cudaMemset(host, 0, 16));
    check(cudaMemcpy(x, host, 16, 5));
    check(cudaMemcpy2D(x, 4, host, 8, 8, 2, HOST_TO_DEVICE));
    check(cudaMemcpy2D(x, 8, host, 8, 8, 2, 5));
    check(cudaMemcpyPeer(x, 1, x, 0, 4));
    check(cudaMallocManaged(&much, 0, 1));
    check(cudaFuncSetAttribute(&reversed, 8, 1 << 30));
    int blocks;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &reversed, 0, 0));
    check(cudaStreamDestroy(nullptr));
}

static void large() { check(launch(&greet, 1, 2048, {})); }

static void fault(int* x) {
    int n = 4;
    Pair pair{};
    check(launch(&combine, 1, 4, {&x, &x, &pair, &n}));
    check(cudaDeviceSynchronize());
    check(cudaStreamSynchronize(nullptr));
    void* more;
    check(cudaMalloc(&more, 4));
    std::printf("%d %d\n", cudaGetLastError(), cudaGetLastError());
}

static void null() { fault(nullptr); }
static void crooked() { fault(reinterpret_cast<int*>(device<char>(17) + 1)); }

static void threads() {
    std::vector<std::thread> all;
    std::vector<int> sums(4);
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&sums, t] {
            int* x = device<int>(32);
            std::vector<int> values(32, t);
            for (int i = 0; i < 5; ++i) {
                check(cudaMemcpy(x, values.data(), 128, HOST_TO_DEVICE));
                check(launch(&reversed, 1, 32, {&x}, 128));
                check(cudaMemcpy(values.data(), x, 128, DEVICE_TO_HOST));
            }
            for (const int value : values) sums[t] += value;
        });
    for (std::thread& thread : all) thread.join();
    show(sums);
}

// Memory of another thread of the host, which writes it while a kernel runs.
static void meanwhile() {
    int *x, *y, n = 70;
    check(cudaMallocManaged(reinterpret_cast<void**>(&x), 280, 1));
    check(cudaMallocHost(reinterpret_cast<void**>(&y), 280, 0));
    run(x, x, n);                                             // compiles the kernel
    std::thread other([x, n] { for (int i = 0; i < 20; ++i) run(x, x, n); });
    usleep(50000);
    y[0] = 42;
    other.join();
    std::printf("%d\n", y[0]);
}

// Processes that the program starts use the GPU at the same time. One stays behind.
static void children() {
    std::printf("parent\n");
    std::fflush(stdout);
    std::vector<int> all;
    for (int child = 0; child < 3; ++child) {
        all.push_back(fork());
        if (all.back()) continue;
        for (int i = 0; i < 20; ++i) {
            const int given = 100 * child + i;
            int got, *x = device<int>(1);
            check(cudaMemcpy(x, &given, 4, HOST_TO_DEVICE));
            check(cudaMemcpy(&got, x, 4, DEVICE_TO_HOST));
            if (got != given) _exit(1);
        }
        _exit(0);
    }
    for (const int child : all) {
        int status;
        waitpid(child, &status, 0);
        std::printf("%d ", status);
    }
    std::printf("\n");
    if (!fork()) {
        for (const int file : {0, 1, 2}) close(file);
        for (int i = 0; i < 1000; ++i) device<int>(1), usleep(10000);      // until its GPU is gone
    }
}

// A process that the program starts ends within a request.
static void killed() {
    int* x = device<int>(1);
    const int child = fork();
    if (!child) cudaMemcpy(x, reinterpret_cast<const void*>(4096), 4, HOST_TO_DEVICE);
    int status, given = 42, got;
    waitpid(child, &status, 0);
    check(cudaMemcpy(x, &given, 4, HOST_TO_DEVICE));
    check(cudaMemcpy(&got, x, 4, DEVICE_TO_HOST));
    std::printf("%d %d\n", WEXITSTATUS(status), got);
}

// It ends during a launch that is not the first one: however long its kernel is compiled, one has ended.
static void early() {
    check(launch(&greet, 1, 32, {}));
    std::thread([] { for (;;) launch(&greet, 1000, 32, {}); }).detach();
    sleep(1);
    _exit(0);
}

static void closed() {
    for (int file = 3; file < 100; ++file) close(file);
    device<int>(1);
}

static void beyond() {
    int* x = device<int>(1);
    check(cudaMemcpy(x, reinterpret_cast<const void*>(4096), 4, HOST_TO_DEVICE));
}

static void wait() {
    std::printf("waiting\n");
    std::fflush(stdout);
    sleep(100);
}

static void asked() { raise(SIGTERM); }
static void realtime() { raise(SIGRTMIN + 3); }
static void leave() { std::exit(3); }
static void crash() { std::abort(); }
static void nothing() {}

int main(int, char** arguments) {
    const std::map<std::string, void (*)()> tests = {
        {"arrays", arrays}, {"managed", managed}, {"occupied", occupied}, {"variables", variables},
        {"taken", taken}, {"rectangles", rectangles},
        {"volumes", volumes}, {"shared", shared}, {"cooperative", cooperative}, {"printing", printing}, {"time", time}, {"properties", properties},
        {"misused", misused}, {"large", large}, {"null", null}, {"crooked", crooked},
        {"threads", threads}, {"meanwhile", meanwhile},
        {"children", children}, {"killed", killed},
        {"early", early}, {"closed", closed}, {"beyond", beyond}, {"wait", wait},
        {"asked", asked}, {"realtime", realtime}, {"leave", leave}, {"crash", crash}, {"nothing", nothing}};
    tests.at(arguments[1])();
}
