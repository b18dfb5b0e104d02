/* EMULATED_FAIL: calls that fail on purpose. */
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
    int rank; /* -1: all */
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

} // namespace

int emulated::process_rank()
{
    const char *rank = std::getenv("OMPI_COMM_WORLD_RANK");

    return rank ? std::atoi(rank) : 0;
}

bool emulated::fails(const char *call)
{
    static std::mutex mutex;
    static const auto *failures = new std::vector<failure>(parse(std::getenv("EMULATED_FAIL")));
    static auto *counts = new std::map<std::string, long>;

    if (failures->empty())
        return false;
    std::lock_guard<std::mutex> lock(mutex);
    long number = ++(*counts)[call];
    for (const failure &f : *failures)
        if (f.call == call && f.number == number && (f.rank < 0 || f.rank == process_rank()))
            return true;
    return false;
}
