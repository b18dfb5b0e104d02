/* samples/random_streams.h: the random numbers that Darknet draws in training.
 *
 * Darknet names what it is about to draw for, and then draws: each draw depends on the
 * run's seed, that name and how many were drawn under it (base/random.h), and not on
 * the thread. For draw_for and draw of train_plugin.
 */
#ifndef DDP_SAMPLES_RANDOM_STREAMS_H
#define DDP_SAMPLES_RANDOM_STREAMS_H

#include <darknet.h>
#include <stddef.h>
#include <stdint.h>

/* Set the seed of the process. To be called before any thread draws; threads that have
 * already named a purpose keep the old seed until they name one again. */
void ddp_random_streams_open(uint64_t seed);

/* What the calling thread's next draws are for; the first of them is the same each
 * time. Any thread, no locks. */
void ddp_random_stream_use(draw_purpose purpose, int layer, size_t number);

#ifdef GPU
/* x_gpu[s * each + j] becomes what rand_uniform(0, 1) makes of draw j after
 * ddp_random_stream_use(DRAW_LAYER, layer, first + s), for s in 0..samples and j in 0..each: the
 * same bits on a GPU as on the host. Queued on the default stream of the current GPU. */
void ddp_draw_gpu(float *x_gpu, size_t each, int samples, int layer, size_t first);
#endif

/* 32 random bits. A thread that has named no purpose draws as all such threads do. */
unsigned ddp_draw(void);

#endif
