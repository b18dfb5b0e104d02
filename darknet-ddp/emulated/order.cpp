#include "order.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulated
{

order_choice order_of_environment()
{
    const char *text = std::getenv("EMULATED_ORDER");
    order_choice choice = {order::random, 1};

    if (!text || !std::strcmp(text, "eager"))
        return {order::eager, 1};
    if (!std::strcmp(text, "compute-late"))
        return {order::compute_late, 1};
    if (!std::strcmp(text, "streams-late"))
        return {order::streams_late, 1};
    if (std::sscanf(text, "random:%lu", &choice.seed) == 1)
        return choice;
    std::fprintf(
        stderr, "EMULATED_ORDER wants eager, compute-late, streams-late or random:SEED, not '%s'\n",
        text);
    std::abort();
}

unsigned next_random(order_choice &choice, unsigned n)
{
    choice.seed = choice.seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(choice.seed >> 33) % n;
}

} // namespace emulated
