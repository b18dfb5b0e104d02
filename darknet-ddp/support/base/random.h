/* base/random.h: draws the random numbers of a run, by Philox4x32-10, so that a run can be
 * repeated and resumed.
 *
 * A draw depends on a 64-bit seed (mostly the run's), a topic (what it is for), a number (such as a
 * sample's), and its place among the draws for these. It does not depend on thread, rank or time.
 * The seed is Philox's key. Its counter is, low word first:
 *
 *    block, topic, number's low half, number's high half
 *
 * A block is the four random words that one counter gives. Different (block, topic, number) are
 * different counters. A resumed run relies on this layout. */
#ifndef DDP_BASE_RANDOM_H
#define DDP_BASE_RANDOM_H

#include <stdint.h>

enum ddp_purpose {
    DDP_PURPOSE_OWN = 0xf0,        /* purposes below this one are those of Darknet's own draws */
    DDP_PURPOSE_SAMPLER = 0xf1,    /* draws of samples/sampler.c, samples/bad_samples.c */
    DDP_PURPOSE_SYNTHETIC = 0xf2,  /* draws of timing/synthetic.c */
    DDP_PURPOSE_LAYER_DROP = 0xf3, /* draws of algorithms/layer_drop/draw.c */
    DDP_PURPOSE_COMPRESS = 0xf4,   /* draws of algorithms/powersgd */
    DDP_PURPOSE_NONE = 0xff        /* draws of code that has named no purpose yet */
};

typedef struct ddp_random {
    uint32_t key[2];
    uint32_t counter[4]; /* Philox's counter for the next block */
    uint32_t block[4];
    unsigned left; /* how many numbers of `block` were not drawn yet */
} ddp_random;

/* Return a topic: the purpose (0 to 255) in its high byte, and in the others, modulo 2^24, a detail
 * such as the number of a layer. */
uint32_t ddp_random_topic(unsigned purpose, int detail);

/* Write block number `block`, from 0, of (seed, topic, number) to out. */
void ddp_random_block(uint64_t seed, uint32_t topic, uint64_t number, uint32_t block,
                      uint32_t out[4]);

/* Return a random whole number from 0 to end - 1, made of block number `block`; end is not 0. The
 * probabilities of any two numbers differ by 2^-64 at most. */
uint64_t ddp_random_below(uint64_t seed, uint32_t topic, uint64_t number, uint32_t block,
                          uint64_t end);

/* Start the draws of (seed, topic, number) in *r, from block 0 on. They repeat after 2^34 draws. */
void ddp_random_init(ddp_random *r, uint64_t seed, uint32_t topic, uint64_t number);

/* Return the next 32 random bits. One thread at a time. */
uint32_t ddp_random_next(ddp_random *r);

/* Return the next random number: a multiple of 2^-24 from 0 to below 1, all alike probable. One
 * thread at a time. */
float ddp_random_unit(ddp_random *r);

#endif
