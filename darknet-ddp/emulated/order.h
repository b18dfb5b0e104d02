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

/* Return what EMULATED_ORDER says; eager if it is not set. End the program if it is wrong. */
order_choice order_of_environment();

/* Return a random number from 0 to n - 1, and advance choice.seed. */
unsigned next_random(order_choice &choice, unsigned n);

} // namespace emulated

#endif
