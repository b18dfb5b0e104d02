#include "channel.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

namespace emulated
{

constexpr size_t slot_bytes = size_t(1) << 20, message_bytes = size_t(1) << 18;

/* A rank's side of the collectives. Each counter has one writer. */
struct rank_state {
    std::atomic<int> pid;
    std::atomic<int> has_left;
    std::atomic<uint64_t> posted;              /* steps of collectives */
    uint64_t what[2], bytes[2], registered[2]; /* for each of the two steps that were posted last */
};

struct mailbox {
    std::atomic<uint64_t> sent, received;
    uint64_t bytes, registered;
};

/* The shared memory, zero when it is made. Behind it come two slots a rank, and a message a pair of
 * ranks. */
struct segment {
    std::atomic<int> arrived, aborted;
    rank_state ranks[most_ranks];
    mailbox boxes[most_ranks][most_ranks];
};

namespace
{

[[noreturn]] void die(const transfer &t, const char *words, uint64_t mine, uint64_t theirs)
{
    std::fprintf(stderr, "emulated NCCL: operation %d: %s: %llu here, %llu there\n",
                 static_cast<int>(t.what), words, static_cast<unsigned long long>(mine),
                 static_cast<unsigned long long>(theirs));
    std::abort();
}

size_t segment_bytes(int size)
{
    auto n = static_cast<size_t>(size);

    return sizeof(segment) + 2 * n * slot_bytes + n * n * message_bytes;
}

constexpr char prefix[] = "emulated-nccl-";

/* Remove segments of ranks that were killed before all had come. */
void remove_orphans()
{
    DIR *folder = opendir("/dev/shm");

    while (const dirent *entry = folder ? readdir(folder) : nullptr) {
        int pid;

        if (!std::strncmp(entry->d_name, prefix, sizeof prefix - 1)
            && std::sscanf(entry->d_name + sizeof prefix - 1, "%d-", &pid) == 1 && kill(pid, 0)
            && errno == ESRCH)
            shm_unlink(entry->d_name);
    }
    if (folder)
        closedir(folder);
}

uint64_t signature(const transfer &t)
{
    return static_cast<uint64_t>(t.what) * 1000
           + (t.what == operation::broadcast ? static_cast<uint64_t>(t.peer) : 0);
}

} // namespace

/* Return a name for a segment, /emulated-nccl-PID-RANDOM; process PID made it. */
std::string channel::new_name()
{
    std::random_device random;
    char name[64];

    remove_orphans();
    (void)std::snprintf(name, sizeof name, "/%s%d-%08x%08x", prefix, getpid(), random(), random());
    return name;
}

channel *channel::open(const std::string &name, int size, int rank)
{
    size_t bytes = segment_bytes(size);
    int fd = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
    void *x = MAP_FAILED;

    if (fd >= 0 && !ftruncate(fd, static_cast<off_t>(bytes)))
        x = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (x == MAP_FAILED)
        return nullptr;
    return new channel(name, static_cast<segment *>(x), bytes, size, rank);
}

channel::channel(const std::string &segment_name, segment *s, size_t bytes, int ranks, int own)
    : size(ranks), rank(own), name(segment_name), shared(s), shared_bytes(bytes)
{
    shared->ranks[rank].pid = getpid();
    if (++shared->arrived == size)
        shm_unlink(name.c_str()); /* every rank has opened it */
}

channel::~channel()
{
    munmap(shared, shared_bytes);
}

bool channel::all_opened()
{
    return shared->arrived >= size;
}

bool channel::has_lost_rank()
{
    if (shared->aborted)
        return true;
    for (int r = 0; r < size; r++) {
        int pid = shared->ranks[r].pid;

        if (pid && !shared->ranks[r].has_left && kill(pid, 0) && errno == ESRCH)
            return true;
    }
    return false;
}

void channel::leave(bool aborting)
{
    if (aborting)
        shared->aborted = 1;
    shared->ranks[rank].has_left = 1;
    if (!all_opened())
        shm_unlink(name.c_str());
}

/* ---- turns ---- */

uint64_t &channel::next_turn(const transfer &t, bool done)
{
    int queue = t.what == operation::send      ? 1 + t.peer
                : t.what == operation::receive ? 1 + most_ranks + t.peer
                                               : 0;

    return turns[done][queue];
}

uint64_t channel::take_turn(const transfer &t)
{
    return next_turn(t, false)++;
}

bool channel::advance(transfer &t)
{
    bool done;

    if (t.ended)
        return true;
    if (t.never_ends || next_turn(t, true) != t.turn)
        return false;
    done = t.what == operation::send      ? advance_send(t)
           : t.what == operation::receive ? advance_receive(t)
                                          : advance_collective(t);
    if (done)
        next_turn(t, true)++;
    t.ended = done;
    return done;
}

/* ---- collectives ----
 * In each step every rank posts a piece in its slot, and collects what it wants of all when all
 * have posted. There are two slots a rank, for steps in turn: who posts step s + 2 has collected
 * step s + 1, so all had posted that, so all had collected step s. */

char *channel::slot(uint64_t of_step, int of_rank)
{
    auto index =
        static_cast<size_t>(of_step % 2) * static_cast<size_t>(size) + static_cast<size_t>(of_rank);

    return reinterpret_cast<char *>(shared + 1) + index * slot_bytes;
}

void channel::post(transfer &t, size_t length)
{
    rank_state &own = shared->ranks[rank];

    if (t.what != operation::broadcast || t.peer == rank)
        std::memcpy(slot(step, rank), t.from + t.offset, length);
    own.what[step % 2] = signature(t);
    own.bytes[step % 2] = t.bytes;
    own.registered[step % 2] = t.registered;
    own.posted = step + 1;
    t.posted = true;
}

/* A format of 16 bits. Converted by arithmetic, unlike in the code that this is to test. */
struct half_format {
    int digits, least; /* digits of the significand; exponent of the smallest normal number */
    double largest;
};

constexpr half_format float16{11, -14, 65504}, bfloat16{8, -126, 3.3895313892515355e38};

static double decode(uint16_t bits, const half_format &f)
{
    int fraction_bits = f.digits - 1, exponent = (bits & 0x7fff) >> fraction_bits;
    int fraction = bits & ((1 << fraction_bits) - 1);
    double size;

    if (exponent == 0x7fff >> fraction_bits)
        size = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        size = std::ldexp(fraction, f.least - fraction_bits);
    else
        size = std::ldexp(fraction + (1 << fraction_bits), f.least + exponent - 1 - fraction_bits);
    return bits & 0x8000 ? -size : size;
}

static uint16_t encode(double x, const half_format &f)
{
    int fraction_bits = f.digits - 1, exponent;
    double size = std::fabs(x), places;
    int bits;

    if (std::isnan(x))
        return 0x7fff;
    if (size > f.largest * 2)
        size = f.largest * 2; /* becomes infinite, too */
    (void)std::frexp(size, &exponent);
    exponent = size > 0 ? std::max(exponent - 1, f.least) : f.least;
    places = std::nearbyint(std::ldexp(size, fraction_bits - exponent));
    if (std::ldexp(places, exponent - fraction_bits) > f.largest)
        bits = (0x7fff >> fraction_bits) << fraction_bits;
    else
        bits = ((exponent - f.least) << fraction_bits) + static_cast<int>(places);
    return static_cast<uint16_t>(bits | (std::signbit(x) ? 0x8000 : 0));
}

/* Sum numbers of 16 bits of all slots, with one rounding at the end. */
static void sum_half_slots(char *to, const char *const *slots, int size, const transfer &t,
                           size_t count)
{
    const half_format &format = t.bfloat16 ? bfloat16 : float16;

    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        uint16_t bits;

        for (int r = 0; r < size; r++) {
            std::memcpy(&bits, slots[r] + i * sizeof bits, sizeof bits);
            sum += decode(bits, format);
        }
        bits = encode(t.average ? sum / size : sum, format);
        std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
    }
}

/* Set to[0..count) to the sum of all slots from `first` on. */
static void sum_slots(float *to, const float *const *slots, int size, size_t first, size_t count,
                      bool average)
{
    for (size_t i = 0; i < count; i++) {
        float sum = slots[0][first + i];

        for (int r = 1; r < size; r++)
            sum += slots[r][first + i];
        to[i] = average ? sum / static_cast<float>(size) : sum;
    }
}

void channel::collect(transfer &t, size_t length)
{
    const float *slots[most_ranks];
    size_t first = t.offset, end = t.offset + length, part = t.bytes / static_cast<size_t>(size);
    size_t start = static_cast<size_t>(rank) * part;

    for (int r = 0; r < size; r++)
        slots[r] = reinterpret_cast<const float *>(slot(step, r));
    switch (t.what) {
    case operation::reduce_scatter:
        first = std::max(first, start);
        end = std::min(end, start + part);
        if (first < end)
            sum_slots(reinterpret_cast<float *>(t.to + (first - start)), slots, size,
                      (first - t.offset) / sizeof(float), (end - first) / sizeof(float), t.average);
        break;
    case operation::allgather:
        for (int r = 0; r < size; r++)
            std::memcpy(t.to + static_cast<size_t>(r) * t.bytes + t.offset, slots[r], length);
        break;
    case operation::broadcast:
        std::memcpy(t.to + t.offset, slots[t.peer], length);
        break;
    default:
        if (t.element_bytes == sizeof(uint16_t)) {
            const char *halves[most_ranks];

            for (int r = 0; r < size; r++)
                halves[r] = slot(step, r);
            sum_half_slots(t.to + t.offset, halves, size, t, length / sizeof(uint16_t));
            break;
        }
        sum_slots(reinterpret_cast<float *>(t.to + t.offset), slots, size, 0,
                  length / sizeof(float), t.average);
    }
}

void channel::check_posted(const transfer &t)
{
    for (int r = 0; r < size; r++) {
        const rank_state &other = shared->ranks[r];

        if (other.what[step % 2] != signature(t))
            die(t, "ranks call different collectives", signature(t), other.what[step % 2]);
        if (other.bytes[step % 2] != t.bytes)
            die(t, "ranks pass different sizes", t.bytes, other.bytes[step % 2]);
        if (other.registered[step % 2] != t.registered)
            die(t, "ranks mix registered memory and other", t.registered,
                other.registered[step % 2]);
    }
}

bool channel::advance_collective(transfer &t)
{
    while (t.offset < t.bytes) {
        size_t length = std::min(slot_bytes, t.bytes - t.offset);

        if (!t.posted)
            post(t, length);
        for (int r = 0; r < size; r++)
            if (shared->ranks[r].posted < step + 1)
                return false;
        check_posted(t);
        collect(t, length);
        step++;
        t.offset += length;
        t.posted = false;
    }
    return true;
}

/* ---- messages ---- */

char *channel::message(int from, int to)
{
    auto n = static_cast<size_t>(size);

    return slot(0, 0) + 2 * n * slot_bytes
           + (static_cast<size_t>(from) * n + static_cast<size_t>(to)) * message_bytes;
}

bool channel::advance_send(transfer &t)
{
    mailbox &box = shared->boxes[rank][t.peer];

    while (t.offset < t.bytes) {
        size_t length = std::min(message_bytes, t.bytes - t.offset);

        if (box.sent > box.received)
            return false;
        std::memcpy(message(rank, t.peer), t.from + t.offset, length);
        box.bytes = t.bytes;
        box.registered = t.registered;
        box.sent++;
        t.offset += length;
    }
    return true;
}

bool channel::advance_receive(transfer &t)
{
    mailbox &box = shared->boxes[t.peer][rank];

    while (t.offset < t.bytes) {
        size_t length = std::min(message_bytes, t.bytes - t.offset);

        if (box.sent == box.received)
            return false;
        if (box.bytes != t.bytes)
            die(t, "a message is not as long as expected", t.bytes, box.bytes);
        if (box.registered != t.registered)
            die(t, "a message mixes registered memory and other", t.registered, box.registered);
        std::memcpy(t.to + t.offset, message(t.peer, rank), length);
        box.received++;
        t.offset += length;
    }
    return true;
}

} // namespace emulated
