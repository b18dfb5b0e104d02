/* EMULATED_ORDER (emulated.h). */
#ifndef EMULATED_ORDER_H
#define EMULATED_ORDER_H

#include <cstdint>

namespace emulated
{

enum class order { eager, compute_late, streams_late, random };

struct order_choice {
    order kind;
    uint64_t seed;
};

/* Ends the program if it is none of those. */
order_choice order_of_environment();

/* 0 to n - 1. */
unsigned next_random(order_choice &choice, unsigned n);

} // namespace emulated

#endif
