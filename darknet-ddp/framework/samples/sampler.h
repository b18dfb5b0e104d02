/* samples/sampler.h: which line of the training list is sample number g of a run.
 *
 * The list is gone through epoch by epoch. Each epoch is a permutation of its own, so
 * every line comes once; a batch may span the end of one epoch and the start of the
 * next. Nothing is stored: position p of epoch e is a keyed bijection of p, so any
 * rank, thread or resumed run finds any sample by itself.
 *
 * The bijection is a Feistel network over the rectangle of about sqrt(count) by
 * sqrt(count) numbers that holds 0 .. count-1, with Philox as its round function and
 * sums modulo a side (Black and Rogaway, "Ciphers with Arbitrary Finite Domains",
 * CT-RSA 2002); a result outside the list is encrypted again until it is inside.
 */
#ifndef DDP_SAMPLES_SAMPLER_H
#define DDP_SAMPLES_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

/* The line, 0 .. count-1, of sample `number` in a list of count lines; count at least 1.
 * Samples e*count .. e*count + count-1 are epoch e. About a microsecond. Any thread. */
size_t ddp_sampler_at(uint64_t seed, uint64_t number, size_t count);

/* A line drawn for sample `number` independently of all others, so that lines repeat;
 * the odds of two lines differ by less than count / 2^64. count at least 1. */
size_t ddp_sampler_draw(uint64_t seed, uint64_t number, size_t count);

/* A line to take in place of one that cannot be used, drawn for that line and this attempt alone.
 * Any thread. count at least 1. */
size_t ddp_sampler_instead(uint64_t seed, size_t line, unsigned attempt, size_t count);

#endif
