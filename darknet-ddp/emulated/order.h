/* emulated/order.h: reads EMULATED_ORDER, the order in which queued work runs (README.md). */
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

/* Read EMULATED_ORDER; without it the order is eager. Ends the program if it is no order. */
order_choice order_of_environment();

/* Return a random number from 0 to n - 1, and advance choice.seed. */
unsigned next_random(order_choice &choice, unsigned n);

} // namespace emulated

#endif
