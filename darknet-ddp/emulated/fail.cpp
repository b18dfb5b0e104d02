/* Counts most calls of the emulated libraries by name. EMULATED_FAIL=CALL:N[:RANK],... makes the
 * N-th call of a name fail, on all ranks or on RANK. Rank 0 writes its counts, and the bytes that
 * it copied between host and device, to the file that EMULATED_CALLS names. */
#include "emulated.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace
{

struct failure {
    std::string call;
    long number;
    int rank; /* -1: all ranks */
};

[[noreturn]] void refuse(const std::string &item)
{
    std::fprintf(stderr, "EMULATED_FAIL wants CALL:N or CALL:N:RANK, not '%s'\n", item.c_str());
    std::abort();
}

std::vector<failure> parse(const char *text)
{
    std::vector<failure> all;
    std::stringstream list(text ? text : "");
    std::string item;

    while (std::getline(list, item, ',')) {
        size_t colon = item.find(':');
        failure f{item.substr(0, colon), 0, -1};
        char rest = 0;
        int n = colon == std::string::npos
                    ? 0
                    : std::sscanf(item.c_str() + colon, ":%ld:%d%c", &f.number, &f.rank, &rest);

        if (n < 1 || n > 2 || f.number < 1)
            refuse(item);
        all.push_back(f);
    }
    return all;
}

struct calls {
    std::mutex mutex;
    const std::vector<failure> failures = parse(std::getenv("EMULATED_FAIL"));
    const char *file = std::getenv("EMULATED_CALLS");
    std::map<std::string, long> counts;
};

calls *get_calls();

void write_counts()
{
    calls *all = get_calls();
    std::lock_guard<std::mutex> lock(all->mutex);
    FILE *file = std::fopen(all->file, "w");

    if (!file) {
        std::perror(all->file);
        return;
    }
    for (const auto &[call, count] : all->counts)
        if (call != "nothing") /* "nothing" counts launches */
            std::fprintf(file, "%s %ld\n", call.c_str(), count);
    std::fclose(file);
}

calls *get_calls()
{
    static calls *all = [] {
        auto *made = new calls;

        if (made->file && emulated::process_rank() == 0)
            std::atexit(write_counts);
        return made;
    }();

    return all;
}

} // namespace

int emulated::process_rank()
{
    const char *rank = std::getenv("OMPI_COMM_WORLD_RANK");

    return rank ? std::atoi(rank) : 0;
}

void emulated::count_bytes(bool to_device, size_t bytes)
{
    calls *all = get_calls();

    if (!all->file)
        return;
    std::lock_guard<std::mutex> lock(all->mutex);
    all->counts[to_device ? "BytesToDevice" : "BytesToHost"] += static_cast<long>(bytes);
}

bool emulated::fails(const char *call)
{
    calls *all = get_calls();

    if (all->failures.empty() && !all->file)
        return false;
    std::lock_guard<std::mutex> lock(all->mutex);
    long number = ++all->counts[call];
    for (const failure &f : all->failures)
        if (f.call == call && f.number == number && (f.rank < 0 || f.rank == process_rank()))
            return true;
    return false;
}
