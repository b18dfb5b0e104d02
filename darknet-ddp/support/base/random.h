/* base/random.h: every random number of a run, from Philox4x32-10.
 *
 * A run has one 64-bit seed: Philox's key. A number depends on the seed, a topic (what
 * it is for), a number (which sample, step or epoch) and how many were drawn for them
 * before; it depends on no thread, rank or moment. Philox's counter, low word first:
 *
 *     block, topic, number's low half, number's high half
 *
 * A block gives four numbers of 32 bits. Different (block, topic, number) are different
 * counters, so no two draws of a run share a block. The layout is part of what a
 * resumed run relies on.
 *
 * A topic is a purpose (0 to 255) in the high byte and a detail, such as the number of
 * a layer, in the others. Purposes below DDP_PURPOSE_OWN are the caller's.
 */
#ifndef DDP_BASE_RANDOM_H
#define DDP_BASE_RANDOM_H

#include <stdint.h>

enum ddp_purpose {
    DDP_PURPOSE_OWN = 0xf0,        /* from here on those of this program */
    DDP_PURPOSE_SAMPLER = 0xf1,    /* samples/sampler.c, samples/bad_samples.c */
    DDP_PURPOSE_SYNTHETIC = 0xf2,  /* timing/synthetic.c */
    DDP_PURPOSE_LAYER_DROP = 0xf3, /* algorithms/layer_drop/draw.c */
    DDP_PURPOSE_COMPRESS = 0xf4,   /* algorithms/powersgd */
    DDP_PURPOSE_NONE = 0xff        /* draws before any purpose was named */
};

typedef struct ddp_random {
    uint32_t key[2];
    uint32_t counter[4]; /* of the next block */
    uint32_t block[4];
    unsigned left; /* of block */
} ddp_random;

/* detail counts modulo 2^24. */
uint32_t ddp_random_topic(unsigned purpose, int detail);

/* One block. */
void ddp_random_block(uint64_t seed, uint32_t topic, uint64_t number, uint32_t block,
                      uint32_t out[4]);

/* A number below end, which is not 0, of a block of its own; the odds of any two differ by less
 * than end / 2^64. */
uint64_t ddp_random_below(uint64_t seed, uint32_t topic, uint64_t number, uint32_t block,
                          uint64_t end);

/* Start the draws for (topic, number). They repeat after 2^34. */
void ddp_random_init(ddp_random *r, uint64_t seed, uint32_t topic, uint64_t number);

/* The next 32 random bits. One thread at a time. */
uint32_t ddp_random_next(ddp_random *r);

/* The same, uniform over the multiples of 2^-24 in [0, 1). */
float ddp_random_unit(ddp_random *r);

#endif
