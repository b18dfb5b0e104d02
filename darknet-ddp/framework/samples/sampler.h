/* samples/sampler.h: which line of the training list sample number g of a run is, and the random
 * numbers by which Darknet loads it. It has the functions choose, instead, loaded, draw_for, draw
 * and draw_gpu of train_plugin. They have no context, so a process has one run.
 *
 * The list is gone through epoch by epoch, each in an order of its own: every line comes once. A
 * batch may span the end of one epoch and the start of the next. Any rank, thread or resumed run
 * finds any sample by itself (how: the head of sampler.c).
 *
 * Darknet names what it is about to draw for, and then draws. Each draw depends on the run's seed,
 * that name and how many were drawn under it (base/random.h), not on the thread. Lines count from
 * 0. */
#ifndef DDP_SAMPLES_SAMPLER_H
#define DDP_SAMPLES_SAMPLER_H

#include "samples/bad_samples.h"

#include <darknet.h>
#include <stddef.h>
#include <stdint.h>

/* Begin a run. replace: 1 to draw lines with replacement. bad: lines to replace by others; NULL:
 * none are known. The record must outlive the run. */
void ddp_sampler_open(int replace, ddp_bad_samples *bad);

/* Set the run's seed. Call before any thread draws: threads that have named a purpose keep the old
 * seed until they name one again. */
void ddp_sampler_seed(uint64_t seed);

/* ---- lines; any thread ---- */

/* Return the line, 0 .. n-1, that the calling thread is to load for this sample of the run. Notes
 * that it begins to load (samples/loader_status.h). */
size_t ddp_sampler_choose(size_t sample, size_t n);

/* Return the line, 0 .. n-1, of this sample of the run, for a caller that loads nothing. */
size_t ddp_sampler_line(size_t sample, size_t n);

/* Return the line to load if `line` of n was drawn: `line` itself or, if it is known as bad
 * (samples/bad_samples.h), another. */
size_t ddp_sampler_instead(size_t line, size_t n);

/* Note that the calling thread has loaded this sample. */
void ddp_sampler_loaded(size_t sample);

/* Return the line, 0 .. count-1, of sample `number` in a list of count lines, count at least 1.
 * Samples e*count .. e*count + count-1 are epoch e. Takes about a microsecond. */
size_t ddp_sampler_at(uint64_t seed, uint64_t number, size_t count);

/* Draw a line for sample `number` independently of all others, so that lines repeat. The odds of
 * two lines differ by less than count / 2^64. count is at least 1. */
size_t ddp_sampler_draw(uint64_t seed, uint64_t number, size_t count);

/* ---- random numbers ---- */

/* Name what the calling thread's next draws are for, by three numbers. A run's draws after a name
 * are always the same. Any thread, no locks. */
void ddp_draw_for(draw_purpose purpose, int layer, size_t number);

/* Return 32 random bits for the purpose that the calling thread has named by ddp_draw_for. All
 * threads that have named none draw the same numbers. */
unsigned ddp_draw(void);

#ifdef GPU
/* Set x_gpu[s * each + j], for s below samples and j below each, to what rand_uniform(0, 1) makes
 * of draw j after ddp_draw_for(DRAW_LAYER, layer, first + s). A GPU and the host give the same
 * bits. Queued on the default stream of the current GPU. A failed launch ends the program. */
void ddp_draw_gpu(float *x_gpu, size_t each, int samples, int layer, size_t first);
#endif

#endif
