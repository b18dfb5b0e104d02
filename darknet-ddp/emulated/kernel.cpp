/* Runs kernels of the emulated device on the CPU. The threads of a block run one after the other,
 * on fibers (threads that only switch when they say so).
 *
 * A fiber runs threads of the block in turn. If a thread comes to a barrier, it stays there with
 * its fiber, and another fiber goes on with the threads that have not begun. When all threads have
 * begun, those at a barrier go on once all threads of that barrier have reached it or ended. A
 * kernel without barriers needs one fiber. Fibers are begun by ucontext, and then switched by the
 * compiler's own setjmp, which makes no system call. With EMULATED_KERNELS, kernels are logged. */
#include "emulated_kernels.h"

#include "emulated.h"
#include "emulated_launches.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

namespace
{

constexpr size_t stack_bytes = 64 * 1024, page = 4096;
constexpr unsigned most_threads = 1024, most_shared_bytes = 227 * 1024;

enum class at { idle, block_barrier, warp_barrier };

struct fiber {
    void *here[5];
    at place = at::idle;
    bool fresh = true;
    uint3 index; /* threadIdx */
    unsigned thread, mask;
    unsigned exchanges; /* exchanges that this thread has been through */
    ucontext_t start;
};

/* State of the kernel that a host thread runs. */
struct runner {
    std::vector<fiber *> all, idle, waiting;
    fiber *running = nullptr;
    void *scheduler[5];
    const std::function<void()> *body;
    unsigned threads, next;
    std::vector<char> ended;
    uint64_t values[2][most_threads];
    std::vector<char> shared;
};

thread_local runner *mine;

void (*tell_of_launch)(const char *kernel, unsigned blocks);

runner &own()
{
    if (!mine)
        mine = new runner; /* kept: fibers are costly, and the threads that run work are few */
    return *mine;
}

[[noreturn]] void die(const char *words)
{
    std::fprintf(stderr, "emulated device: %s\n", words);
    std::abort();
}

/* Go back to the scheduler, until it resumes this fiber. */
void park(runner &r, fiber &f, at place)
{
    f.place = place;
    f.index = emulated::here.thread;
    (place == at::idle ? r.idle : r.waiting).push_back(&f);
    if (!__builtin_setjmp(f.here))
        __builtin_longjmp(r.scheduler, 1);
}

void set_thread_index(unsigned thread)
{
    emulated::place &here = emulated::here;
    const uint3 &size = here.block_size;

    if (thread < size.x)
        here.thread = {thread, 0, 0};
    else
        here.thread = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

void fiber_main()
{
    runner &r = own();
    fiber &f = *r.running;

    for (;;) {
        while (r.next < r.threads) {
            unsigned thread = r.next++;

            f.thread = thread;
            f.exchanges = 0;
            set_thread_index(thread);
            (*r.body)();
            r.ended[thread] = 1;
        }
        park(r, f, at::idle);
    }
}

fiber *make_fiber(runner &r)
{
    auto *f = new fiber;
    auto *stack = static_cast<char *>(mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));

    if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) || getcontext(&f->start))
        die("no memory for a fiber");
    f->start.uc_stack.ss_sp = stack + page;
    /* stacks at the same place of a page would share a few lines of the cache */
    f->start.uc_stack.ss_size = stack_bytes - r.all.size() % 64 * 320;
    f->start.uc_link = nullptr;
    makecontext(&f->start, fiber_main, 0);
    r.all.push_back(f);
    return f;
}

void resume(runner &r, fiber *f)
{
    r.running = f;
    emulated::here.thread = f->index;
    if (__builtin_setjmp(r.scheduler))
        return;
    if (!f->fresh)
        __builtin_longjmp(f->here, 1);
    f->fresh = false;
    setcontext(&f->start);
    die("a fiber did not start");
}

/* Return true if all threads of the mask in the fiber's warp, but for those that have ended, have
 * come to a barrier of the warp. */
bool warp_is_there(const runner &r, const fiber &f)
{
    unsigned first = f.thread / 32 * 32;
    unsigned missing = 0;

    for (unsigned lane = 0; lane < 32 && first + lane < r.threads; lane++)
        if (f.mask >> lane & 1 && !r.ended[first + lane])
            missing |= 1u << lane;
    for (const fiber *other : r.waiting)
        if (other->place == at::warp_barrier && other->thread / 32 == f.thread / 32)
            missing &= ~(1u << other->thread % 32);
    return !missing;
}

/* Take the fibers whose barrier is complete out of r.waiting, and return them. */
std::vector<fiber *> released(runner &r)
{
    std::vector<fiber *> ready;

    auto at_block = [](const fiber *f) { return f->place == at::block_barrier; };

    if (std::all_of(r.waiting.begin(), r.waiting.end(), at_block)) {
        ready.swap(r.waiting);
        return ready;
    }
    for (fiber *f : r.waiting)
        if (f->place == at::warp_barrier && warp_is_there(r, *f))
            ready.push_back(f);
    if (ready.empty())
        die("threads of a block wait at different barriers");
    for (fiber *f : ready)
        r.waiting.erase(std::find(r.waiting.begin(), r.waiting.end(), f));
    return ready;
}

void run_block(runner &r)
{
    r.next = 0;
    r.ended.assign(r.threads, 0);
    while (r.next < r.threads) {
        fiber *f = r.idle.empty() ? make_fiber(r) : r.idle.back();

        if (!f->fresh)
            r.idle.pop_back();
        resume(r, f);
    }
    while (!r.waiting.empty())
        for (fiber *f : released(r))
            resume(r, f);
}

void run_kernel(dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()> &body)
{
    runner &r = own();

    r.body = &body;
    r.threads = block.x * block.y * block.z;
    r.shared.assign(shared_bytes, char(0xff));
    emulated::here.block_size = {block.x, block.y, block.z};
    emulated::here.grid_size = {grid.x, grid.y, grid.z};
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                emulated::here.block = {x, y, z};
                run_block(r);
            }
}

/* Return this rank's file for EMULATED_KERNELS; nullptr: not asked for. */
FILE *record()
{
    static FILE *file = [] {
        const char *prefix = std::getenv("EMULATED_KERNELS");
        FILE *opened = nullptr;

        if (prefix) {
            std::string name = prefix + std::to_string(emulated::process_rank());

            opened = std::fopen(name.c_str(), "w");
            if (!opened)
                std::perror(name.c_str());
        }
        return opened;
    }();

    return file;
}

long long now_ns()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/* Write a line about a kernel, as tests/gpu/trace.c does for a real device, with the launch's sizes
 * behind. */
void write_record(const char *name, dim3 grid, dim3 block, cudaStream_t stream, long long start)
{
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    auto number = reinterpret_cast<uintptr_t>(stream) & 0xffffffff;

    (void)std::fprintf(record(), "%llu %lld %lld %s (%u blocks of %u)\n",
                       static_cast<unsigned long long>(number), start, now_ns(), name,
                       grid.x * grid.y * grid.z, block.x * block.y * block.z);
}

bool valid(dim3 grid, dim3 block, size_t shared_bytes)
{
    return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x < 1u << 31
           && grid.y < 65536 && grid.z < 65536 && block.x <= most_threads && block.y <= most_threads
           && block.z <= 64 && block.x * block.y * block.z <= most_threads
           && shared_bytes <= most_shared_bytes;
}

} // namespace

namespace emulated
{

__thread place here;

bool only_launches()
{
    return tell_of_launch;
}

void launch(const char *name, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
            std::function<void()> body)
{
    cudaError_t error = cudaSuccess;

    if (!devices())
        error = cudaErrorNoDevice;
    else if (!valid(grid, block, shared_bytes))
        error = cudaErrorInvalidConfiguration;
    else if (fails("launch"))
        error = cudaErrorLaunchFailure;
    if (error != cudaSuccess) {
        (void)report(error);
        return;
    }
    if (tell_of_launch)
        tell_of_launch(name, grid.x * grid.y * grid.z);
    if (fails("nothing")) /* it was launched, and does nothing */
        return;
    (void)enqueue(stream, [=, body = std::move(body)] {
        long long start = record() ? now_ns() : 0;

        run_kernel(grid, block, shared_bytes, body);
        if (record())
            write_record(name, grid, block, stream, start);
    });
    run_ready();
}

void *dynamic_shared()
{
    return own().shared.data();
}

void wait_for_block()
{
    park(own(), *own().running, at::block_barrier);
}

unsigned lane_id()
{
    return own().running->thread % 32;
}

uint64_t exchange(unsigned mask, uint64_t value, unsigned lane)
{
    runner &r = own();
    fiber &f = *r.running;
    uint64_t *values =
        r.values[f.exchanges++ % 2]; /* some threads may still read the last exchange's */

    values[f.thread] = value;
    f.mask = mask;
    park(r, f, at::warp_barrier);
    return values[f.thread / 32 * 32 + lane];
}

} // namespace emulated

void emulated_only_launch(void (*launched)(const char *kernel, unsigned blocks))
{
    tell_of_launch = launched;
}
