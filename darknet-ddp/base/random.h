/* base/random.h: small reproducible random numbers (SplitMix64, Steele et al. 2014). */
#ifndef DDP_BASE_RANDOM_H
#define DDP_BASE_RANDOM_H

#include <stdint.h>

/* A number that depends on (seed, index) alone, uniform over 64 bits. */
uint64_t ddp_random_at(uint64_t seed, uint64_t index);

/* The next number of the stream whose state *state is; any start will do. */
uint64_t ddp_random_next(uint64_t *state);

/* The same, uniform in [0, 1). */
float ddp_random_unit(uint64_t *state);

#endif
