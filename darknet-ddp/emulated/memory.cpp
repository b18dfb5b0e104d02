/* The emulated device's memory, and pinned host memory. Host code crashes if it touches device
 * memory while that is locked.
 *
 * If the CPU has protection keys (instructions that lock pages for one thread), a thread unlocks
 * device memory while it runs device work. Every array, rounded up to 256 bytes, ends at the end of
 * a page, and no memory follows that page.
 *
 * Without keys, or with EMULATED_GUARD=mprotect, all device memory lies in one arena. mprotect
 * opens it for all threads while any thread runs device work; arrays that were freed stay closed.
 * mprotect takes longer than most kernels, so with EMULATED_GUARD=sometimes the arena is closed
 * only every eighth time. */
#include "emulated.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <sys/mman.h>

namespace
{

constexpr size_t page = 4096, alignment = 256;
constexpr size_t arena_bytes = size_t(1) << 36;
constexpr size_t most_retired = 256;
constexpr unsigned sometimes = 8;

struct region {
    char *map; /* with the page behind */
    size_t map_bytes;
    size_t bytes;
};

struct memory {
    std::mutex mutex;
    std::map<const char *, region> live;
    std::map<const char *, size_t> pins;
    int key = -1;

    /* with keys: freed arrays, which stay unmapped for a while */
    std::deque<region> retired;

    /* without keys */
    char *arena = nullptr;
    size_t used = 0;
    std::multimap<size_t, char *> spare;
    int openers = 0;
    unsigned close_every = 1, times = 0;
    bool closed = true;
};

memory &state()
{
    static memory *m = [] {
        auto *fresh = new memory;
        const char *guard = std::getenv("EMULATED_GUARD");

        if (!guard || std::strcmp(guard, "mprotect") != 0)
            fresh->key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
        if (guard && std::strcmp(guard, "sometimes") == 0)
            fresh->close_every = sometimes;
        if (fresh->key < 0)
            fresh->arena =
                static_cast<char *>(mmap(nullptr, arena_bytes, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (fresh->arena == MAP_FAILED)
            std::abort();
        return fresh;
    }();

    return *m;
}

thread_local int open_count;

size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

char *map_with_key(memory &m, size_t bytes)
{
    void *x = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (x == MAP_FAILED)
        return nullptr;
    if (pkey_mprotect(x, bytes - page, PROT_READ | PROT_WRITE, m.key)) {
        munmap(x, bytes);
        return nullptr;
    }
    return static_cast<char *>(x);
}

char *take_from_arena(memory &m, size_t bytes)
{
    auto found = m.spare.find(bytes);
    char *x;

    if (found != m.spare.end()) {
        x = found->second;
        m.spare.erase(found);
        return !m.closed && mprotect(x, bytes, PROT_READ | PROT_WRITE) ? nullptr : x;
    }
    if (bytes > arena_bytes - m.used)
        return nullptr;
    x = m.arena + m.used;
    if (!m.closed && mprotect(x, bytes, PROT_READ | PROT_WRITE))
        return nullptr;
    m.used += bytes;
    return x;
}

void set_arena(memory &m, int protection)
{
    if (m.used && mprotect(m.arena, m.used, protection))
        std::abort();
    if (protection != PROT_NONE)
        for (const auto &piece : m.spare)
            if (mprotect(piece.second, piece.first, PROT_NONE))
                std::abort();
    m.closed = protection == PROT_NONE;
}

void retire(memory &m, const region &s)
{
    if (m.key < 0) {
        madvise(s.map, s.map_bytes, MADV_DONTNEED);
        if (mprotect(s.map, s.map_bytes, PROT_NONE))
            std::abort();
        m.spare.emplace(s.map_bytes, s.map);
        return;
    }
    if (mmap(s.map, s.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
        == MAP_FAILED)
        std::abort();
    m.retired.push_back(s);
    if (m.retired.size() > most_retired) {
        munmap(m.retired.front().map, m.retired.front().map_bytes);
        m.retired.pop_front();
    }
}

/* Fill x with NaN, but for the middle of an array above 64 MiB. */
void spoil(char *x, size_t bytes)
{
    constexpr size_t most = size_t(32) << 20;

    std::memset(x, 0xff, std::min(bytes, most));
    if (bytes > most)
        std::memset(x + bytes - most, 0xff, most);
}

template <class Map> auto region_of(const Map &map, const char *x)
{
    auto after = map.upper_bound(x);

    return after == map.begin() ? map.end() : std::prev(after);
}

} // namespace

namespace emulated
{

open_memory::open_memory()
{
    memory &m = state();

    if (open_count++)
        return;
    if (m.key >= 0) {
        pkey_set(m.key, 0);
        return;
    }
    std::lock_guard<std::mutex> lock(m.mutex);
    if (!m.openers++ && m.closed)
        set_arena(m, PROT_READ | PROT_WRITE);
}

open_memory::~open_memory()
{
    memory &m = state();

    if (--open_count)
        return;
    if (m.key >= 0) {
        pkey_set(m.key, PKEY_DISABLE_ACCESS);
        return;
    }
    std::lock_guard<std::mutex> lock(m.mutex);
    if (!--m.openers && ++m.times % m.close_every == 0)
        set_arena(m, PROT_NONE);
}

void *allocate(size_t bytes)
{
    memory &m = state();
    size_t body = round_up(bytes, alignment), map_bytes = round_up(body, page) + page;
    region s;

    if (bytes > arena_bytes / 2)
        return nullptr;
    {
        std::lock_guard<std::mutex> lock(m.mutex);
        s = {m.key >= 0 ? map_with_key(m, map_bytes) : take_from_arena(m, map_bytes), map_bytes,
             bytes};
        if (!s.map)
            return nullptr;
    }
    char *x = s.map + map_bytes - page - body;
    if (!only_launches()) {
        open_memory open;
        spoil(x, body);
    }
    std::lock_guard<std::mutex> lock(m.mutex);
    m.live[x] = s;
    return x;
}

bool release(void *x)
{
    memory &m = state();
    std::lock_guard<std::mutex> lock(m.mutex);
    auto found = m.live.find(static_cast<char *>(x));

    if (found == m.live.end())
        return false;
    retire(m, found->second);
    m.live.erase(found);
    return true;
}

bool on_device(const void *x, size_t bytes)
{
    memory &m = state();
    std::lock_guard<std::mutex> lock(m.mutex);
    auto begin = static_cast<const char *>(x);
    auto found = region_of(m.live, begin);

    return found != m.live.end() && begin + bytes <= found->first + found->second.bytes
           && begin < found->first + found->second.bytes;
}

bool pinned(const void *x, size_t bytes)
{
    memory &m = state();
    std::lock_guard<std::mutex> lock(m.mutex);
    auto begin = static_cast<const char *>(x);
    auto found = region_of(m.pins, begin);

    return found != m.pins.end() && begin + bytes <= found->first + found->second;
}

} // namespace emulated

using namespace emulated;

extern "C" {

cudaError_t cudaMalloc(void **x, size_t bytes)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (!x)
        return report(cudaErrorInvalidValue);
    *x = nullptr;
    if (fails("cudaMalloc"))
        return report(cudaErrorMemoryAllocation);
    if (!bytes)
        return cudaSuccess;
    *x = allocate(bytes);
    return *x ? cudaSuccess : report(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *x)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaFree"))
        return report(cudaErrorIllegalAddress);
    wait_everything();
    return !x || release(x) ? cudaSuccess : report(cudaErrorInvalidValue);
}

cudaError_t cudaHostAlloc(void **x, size_t bytes, unsigned)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    *x = fails("cudaHostAlloc") ? nullptr : std::aligned_alloc(page, round_up(bytes + 1, page));
    if (!*x)
        return report(cudaErrorMemoryAllocation);
    std::memset(*x, 0xff, bytes);
    std::lock_guard<std::mutex> lock(state().mutex);
    state().pins[static_cast<char *>(*x)] = bytes;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **x, size_t bytes)
{
    if (fails("cudaMallocHost")) {
        *x = nullptr;
        return report(cudaErrorMemoryAllocation);
    }
    return cudaHostAlloc(x, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostRegister(void *x, size_t bytes, unsigned)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaHostRegister"))
        return report(cudaErrorMemoryAllocation);
    if (!x || !bytes)
        return report(cudaErrorInvalidValue);
    if (pinned(x, 1))
        return report(cudaErrorHostMemoryAlreadyRegistered);
    std::lock_guard<std::mutex> lock(state().mutex);
    state().pins[static_cast<char *>(x)] = bytes;
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *x)
{
    wait_everything();
    std::lock_guard<std::mutex> lock(state().mutex);
    return state().pins.erase(static_cast<char *>(x)) ? cudaSuccess
                                                      : report(cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaFreeHost(void *x)
{
    if (!x)
        return cudaSuccess;
    if (cudaHostUnregister(x) != cudaSuccess)
        return report(cudaErrorInvalidValue);
    std::free(x);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    std::lock_guard<std::mutex> lock(state().mutex);
    size_t live = 0;

    for (const auto &piece : state().live)
        live += piece.second.bytes;
    *total_bytes = arena_bytes / 2;
    *free_bytes = *total_bytes - live;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *x)
{
    void *any = const_cast<void *>(x);

    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, any};
    if (on_device(x, 1))
        *attributes = {cudaMemoryTypeDevice, current_device(), any, nullptr};
    else if (pinned(x, 1))
        *attributes = {cudaMemoryTypeHost, current_device(), any, any};
    return cudaSuccess;
}

} // extern "C"
