/* algorithms/plugs.h: the tables of functions by which an algorithm takes part in a training step.
 * One table decides which layers run, one who updates parameters, one which steps sum gradients
 * (core/gradient_codec.h has a fourth: how gradients are summed).
 *
 * The trainer calls the functions. Their first argument, self, is the algorithm's own data
 * (ddp_algorithm.open). No function of these three is NULL. Without a table, training goes as
 * without the algorithm. Algorithms that control the same thing exclude each other
 * (algorithms/claims.h), so a run has at most one of each table. Every rank makes the same calls in
 * the same order, but for note_layer, from one thread. */
#ifndef DDP_ALGORITHMS_PLUGS_H
#define DDP_ALGORITHMS_PLUGS_H

#include "base/status.h"

#include <stddef.h>

/* The layers `first` to `last`, between a [shortcut] layer and the earlier layer that the
 * [shortcut] adds. The network can be trained without them. */
typedef struct ddp_residual_block {
    int first, last;
    int shortcut; /* index of the [shortcut]: last + 1 */
} ddp_residual_block;

/* Decides which layers a step leaves out, the same ones on every rank. */
typedef struct ddp_layers_plug {
    /* Choose the layers that a step, from 0, leaves out. Called once before each step. Both arrays
     * have an entry for each layer, and still hold the choice of the step before. Change only:
     *   dropped   entries of a block's layers: 1 if the block is left out, else 0; at first 0
     *   scale     entry of a block's [shortcut]: factor of the block's output; at first 1 */
    void (*choose)(void *self, size_t step, char *dropped, float *scale);
} ddp_layers_plug;

/* One array of parameters that the framework (Darknet) is about to update. */
typedef struct ddp_array_update {
    float *value, *gradient; /* `count` floats each, on the device of the parameters */
    size_t count;
    /* Update elements begin to end - 1 as the framework does.
     *   moments   end - begin floats of each moment (core/sharded.h). NULL: the framework's own
     *             moments; begin must then be 0 */
    void (*apply)(const struct ddp_array_update *u, size_t begin, size_t end,
                  float *const *moments);
} ddp_array_update;

/* Updates parameters in the framework's place. */
typedef struct ddp_update_plug {
    /* Update an array: call u->apply for the elements that this rank updates. */
    void (*optimize)(void *self, const ddp_array_update *u);
    /* Called after the last layer of a step was updated, before the next step. Fails with
     * DDP_ERR_NOMEM, DDP_ERR_COMM. */
    ddp_status (*end_updates)(void *self, ddp_error *err);
    /* Wait for a layer's parameters that other ranks update. Called once for each layer of a step,
     * also if unused or frozen, before it is read. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
    ddp_status (*receive_layer)(void *self, int layer, ddp_error *err);
} ddp_update_plug;

/* Decides which steps, from 1, sum gradients, the same ones on every rank. In every other step, a
 * local step, each rank updates with its own gradients. Then parameters differ between ranks, until
 * ranks are brought into sync. Code that needs them in sync asks ddp_trainer_in_sync. */
typedef struct ddp_step_plug {
    /* Return 1 if a step sums gradients. */
    int (*syncs_gradients)(const void *self, size_t step);
    /* Return 1 if the trainer must call sync after this step, which is local. */
    int (*is_sync_due)(const void *self, size_t step);
    /* Begin the updates of a local step, at learning rate `rate`. Returns the factor by which each
     * rank multiplies its own gradients. */
    double (*begin_update)(void *self, double rate);
    /* Note that this rank is about to update a layer in a local step. */
    void (*note_layer)(void *self, int layer);
    /* Return 1 if all ranks have the same parameters now. */
    int (*in_sync)(const void *self);
    /* Return after how many more steps, at most, sync is called. Called if in_sync returns 0. */
    size_t (*steps_to_sync)(const void *self);
    /* Bring ranks into sync, between two steps. Every rank calls it; blocks. Fails with
     * DDP_ERR_FORMAT on every rank if a result is not finite, and with DDP_ERR_NOMEM and
     * DDP_ERR_COMM. */
    ddp_status (*sync)(void *self, ddp_error *err);
} ddp_step_plug;

#endif
