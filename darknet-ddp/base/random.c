#include "base/random.h"

uint64_t ddp_random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

uint64_t ddp_random_at(uint64_t seed, uint64_t index)
{
    uint64_t state = ddp_random_next(&seed) ^ index;

    return ddp_random_next(&state);
}

float ddp_random_unit(uint64_t *state)
{
    return (float)(ddp_random_next(state) >> 40) / (float)(1 << 24);
}
