/* samples/sampler.h: chooses the line of the training list that each sample of a run is, and draws
 * Darknet's random numbers, such as those that change a sample. Plays the part of PyTorch's
 * DistributedSampler. A process has one run, since Darknet calls these functions (train_plugin in
 * darknet.h) without context.
 *
 * Each epoch is a new order of the whole list, so every line comes once in it, unless lines are
 * drawn with replacement or cannot be read. A batch may span the end of one epoch and the start of
 * the next. Samples and lines are numbered from 0. The line of a sample is computed from the seed
 * and the sample's number, so each rank, thread or resumed run finds it by itself (sampler.c).
 *
 * Before Darknet draws random numbers it says what for (ddp_draw_for). The numbers depend on that
 * and the seed alone, not on the thread. */
#ifndef DDP_SAMPLES_SAMPLER_H
#define DDP_SAMPLES_SAMPLER_H

#include "samples/bad_samples.h"

#include <darknet.h>
#include <stddef.h>
#include <stdint.h>

/* Begin a run. replace: 1: draw lines with replacement; 0: epoch by epoch. bad: record of lines to
 * replace by others, which must outlive the run; NULL: none. */
void ddp_sampler_open(int replace, ddp_bad_samples *bad);

/* Set the run's seed. Call before loader threads draw: another thread that has named a purpose
 * keeps the old seed until it names the next one. The calling thread forgets its purpose. */
void ddp_sampler_seed(uint64_t seed);

/* ---- lines; any thread ---- */

/* Return the line, of n, that the calling thread is to load for a sample, and note that it begins
 * to load (samples/loader_status.h). Serves as train_plugin.choose. */
size_t ddp_sampler_choose(size_t sample, size_t n);

/* Return the line, of n, that ddp_sampler_choose would now return for a sample. Call on a thread
 * that loads no sample: the one that it loads might count as replaced. */
size_t ddp_sampler_line(size_t sample, size_t n);

/* Return the line to load if `line`, of n, was drawn: `line` itself or, if it is bad, another
 * (ddp_bad_samples_line_to_load). Serves as train_plugin.instead. */
size_t ddp_sampler_instead(size_t line, size_t n);

/* Note that the calling thread has loaded a sample. Serves as train_plugin.loaded. */
void ddp_sampler_loaded(size_t sample);

/* Return the line of sample `number`, without replacement: samples e*count .. (e+1)*count - 1 are
 * epoch e, a permutation of all `count` lines. count is at least 1. Takes about a microsecond. */
size_t ddp_sampler_permuted_line(uint64_t seed, uint64_t number, size_t count);

/* Return the line of sample `number`, with replacement: one of `count` lines, each as likely as the
 * others to within count / 2^64. count is at least 1. */
size_t ddp_sampler_drawn_line(uint64_t seed, uint64_t number, size_t count);

/* ---- random numbers ---- */

/* Name the purpose of the calling thread's next draws. Draws for one purpose are always the same in
 * a run. Any thread. Serves as train_plugin.draw_for.
 *   layer    index of the layer that draws (DRAW_LAYER); for other purposes 0
 *   number   number of the sample, batch or other thing that `purpose` names (darknet.h) */
void ddp_draw_for(draw_purpose purpose, int layer, size_t number);

/* Return the next 32 random bits for the purpose that the calling thread has named. Threads that
 * have named none all draw the same numbers. Serves as train_plugin.draw. */
unsigned ddp_draw(void);

#ifdef GPU
/* Fill x_gpu[0..samples * each), on the current GPU, with the numbers that the host would draw. The
 * float x_gpu[s * each + j] is rand_uniform(0, 1) of draw j after ddp_draw_for(DRAW_LAYER, layer,
 * first + s). Queued on the default stream. A failed launch ends the program. Serves as
 * train_plugin.draw_gpu. */
void ddp_draw_gpu(float *x_gpu, size_t each, int samples, int layer, size_t first);
#endif

#endif
