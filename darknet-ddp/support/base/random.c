#include "base/random.h"

#include "base/philox.h"

enum { BLOCK = 4, PURPOSE_SHIFT = 24, UNIT_BITS = 24 };

uint32_t ddp_random_topic(unsigned purpose, int detail)
{
    return (uint32_t)purpose << PURPOSE_SHIFT | ((uint32_t)detail & ((1U << PURPOSE_SHIFT) - 1));
}

void ddp_random_block(uint64_t seed, uint32_t topic, uint64_t number, uint32_t block,
                      uint32_t out[4])
{
    ddp_random r;

    ddp_random_init(&r, seed, topic, number);
    r.counter[0] = block;
    ddp_philox(r.counter, r.key, out);
}

uint64_t ddp_random_below(uint64_t seed, uint32_t topic, uint64_t number, uint32_t block,
                          uint64_t end)
{
    uint32_t bits[4];

    ddp_random_block(seed, topic, number, block, bits);
    return (bits[0] | (uint64_t)bits[1] << 32) % end;
}

void ddp_random_init(ddp_random *r, uint64_t seed, uint32_t topic, uint64_t number)
{
    r->key[0] = (uint32_t)seed;
    r->key[1] = (uint32_t)(seed >> 32);
    r->counter[0] = 0;
    r->counter[1] = topic;
    r->counter[2] = (uint32_t)number;
    r->counter[3] = (uint32_t)(number >> 32);
    r->left = 0;
}

uint32_t ddp_random_next(ddp_random *r)
{
    if (r->left == 0) {
        ddp_philox(r->counter, r->key, r->block);
        r->counter[0]++;
        r->left = BLOCK;
    }
    return r->block[BLOCK - r->left--];
}

float ddp_random_unit(ddp_random *r)
{
    return (float)(ddp_random_next(r) >> (32 - UNIT_BITS)) / (float)(1 << UNIT_BITS);
}
