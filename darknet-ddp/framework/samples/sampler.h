/* samples/sampler.h: what decides a run's samples: which line of the training list is sample number
 * g, and the random numbers that Darknet makes it with. For choose, instead, loaded, draw_for, draw
 * and draw_gpu of train_plugin, which has no context: one run a process.
 *
 * The list is gone through epoch by epoch, each in an order of its own: every line comes
 * once. A batch may span the end of one epoch and the start of the next. Any rank, thread
 * or resumed run finds any sample by itself (how: the head of sampler.c).
 *
 * Darknet names what it is about to draw for, and then draws: each draw depends on the
 * run's seed, that name and how many were drawn under it (base/random.h), and not on
 * the thread.
 */
#ifndef DDP_SAMPLES_SAMPLER_H
#define DDP_SAMPLES_SAMPLER_H

#include "samples/bad_samples.h"

#include <darknet.h>
#include <stddef.h>
#include <stdint.h>

/* A run begins: draw lines with replacement or not, and where bad is not NULL load others in place
 * of those that it knows. It outlives the run. */
void ddp_sampler_open(int replace, ddp_bad_samples *bad);

/* Set the run's seed. To be called before any thread draws; threads that have
 * already named a purpose keep the old seed until they name one again. */
void ddp_sampler_seed(uint64_t seed);

/* ---- lines; any thread ---- */

/* The line, 0 .. n-1, that the calling thread loads for this sample of the run. */
size_t ddp_sampler_choose(size_t sample, size_t n);

/* The same, for who loads nothing. */
size_t ddp_sampler_line(size_t sample, size_t n);

/* The line to load where this one of n was drawn: mostly itself. */
size_t ddp_sampler_instead(size_t line, size_t n);

/* The calling thread has loaded this sample. */
void ddp_sampler_loaded(size_t sample);

/* The line, 0 .. count-1, of sample `number` in a list of count lines; count at least 1.
 * Samples e*count .. e*count + count-1 are epoch e. About a microsecond. */
size_t ddp_sampler_at(uint64_t seed, uint64_t number, size_t count);

/* A line drawn for sample `number` independently of all others, so that lines repeat;
 * the odds of two lines differ by less than count / 2^64. count at least 1. */
size_t ddp_sampler_draw(uint64_t seed, uint64_t number, size_t count);

/* ---- random numbers ---- */

/* What the calling thread's next draws are for; the first of them is the same each
 * time. Any thread, no locks. */
void ddp_draw_for(draw_purpose purpose, int layer, size_t number);

/* 32 random bits. A thread that has named no purpose draws as all such threads do. */
unsigned ddp_draw(void);

#ifdef GPU
/* x_gpu[s * each + j] becomes what rand_uniform(0, 1) makes of draw j after
 * ddp_draw_for(DRAW_LAYER, layer, first + s), for s in 0..samples and j in 0..each: the
 * same bits on a GPU as on the host. Queued on the default stream of the current GPU. */
void ddp_draw_gpu(float *x_gpu, size_t each, int samples, int layer, size_t first);
#endif

#endif
