/* algorithms/plugs.h: where a step of training calls an algorithm. Each plug is a table of
 * functions whose first argument is the algorithm's own state. A NULL function, or a NULL table,
 * means: as in a plain run. Two algorithms that control the same thing exclude each other
 * (algorithms/claims.h), so each plug has at most one. Calls come in one order on every rank, from
 * one thread. */
#ifndef DDP_ALGORITHMS_PLUGS_H
#define DDP_ALGORITHMS_PLUGS_H

#include "base/status.h"

#include <stddef.h>

/* Layers `first` to `last` of a network, without which it can be trained: they lie between a
 * [shortcut] layer and the earlier layer that the [shortcut] adds. */
typedef struct ddp_residual_block {
    int first, last;
    int shortcut; /* index of the [shortcut]: last + 1 */
} ddp_residual_block;

/* Decides which layers a step has; alike on every rank. The trainer tells these layers to the
 * framework, BatchNorm's statistics and the reducer. */
typedef struct ddp_layers_plug {
    /* Choose the layers of a step, counted from 0. Called before each step, one time. Set
     * dropped[l] to 1 for each layer that this step is trained without, all layers of a block
     * alike. Set scale[l] to the factor by which shortcut l multiplies its block's output. Both
     * arrays have an entry for each layer, and hold what the last call left (at first 0 and 1). */
    void (*choose)(void *self, size_t step, char *dropped, float *scale);
} ddp_layers_plug;

/* One array that the framework is about to update. */
typedef struct ddp_array_update {
    float *value, *gradient; /* `count` floats each, on the table's device */
    size_t count;
    /* Do the framework's own update of elements begin to end - 1. moments: end - begin floats of
     * each moment (core/sharded.h); NULL: the framework's own, which are of all elements. */
    void (*apply)(const struct ddp_array_update *u, size_t begin, size_t end,
                  float *const *moments);
} ddp_array_update;

/* Decides who updates what. */
typedef struct ddp_update_plug {
    /* Update an array, in place of the framework. */
    void (*optimize)(void *self, const ddp_array_update *u);
    /* Note that the last layer of a step has been updated. Fails with DDP_ERR_COMM. */
    ddp_status (*updated)(void *self, ddp_error *err);
    /* Wait until the values that other ranks have updated are in the layer's parameters. Called
     * before a forward pass, or other code, reads them, one time for each layer that was updated.
     * Fails with DDP_ERR_COMM. */
    ddp_status (*receive_layer)(void *self, int layer, ddp_error *err);
} ddp_update_plug;

/* Decides which steps sum gradients; alike on every rank. In any other step (a local step) each
 * rank updates with its own gradients. Ranks then differ until they are brought into sync again.
 * Code that needs them in sync asks the trainer (ddp_trainer_in_sync) and waits. */
typedef struct ddp_step_plug {
    /* Return 1 if gradients are summed in this step; the first step is 1. */
    int (*syncs_gradients)(const void *self, size_t step);
    /* Return 1 if ranks are to be in sync when this local step has ended. */
    int (*ends_in_sync)(const void *self, size_t step);
    /* Begin a local step's updates, at this learning rate. Returns the factor by which each rank
     * multiplies its own gradients. */
    double (*begin_update)(void *self, double rate);
    /* Note that this rank is about to update a layer in a local step. */
    void (*updates)(void *self, int layer);
    /* Return 1 if all ranks have the same parameters now. */
    int (*in_sync)(const void *self);
    /* Return after how many more steps, at most, all ranks have the same parameters. Called while
     * in_sync returns 0. */
    size_t (*most_steps)(const void *self);
    /* Bring ranks into sync, between two steps. Every rank calls it; blocks. Fails with
     * DDP_ERR_FORMAT on every rank if a result is not finite, and with DDP_ERR_COMM. */
    ddp_status (*sync)(void *self, ddp_error *err);
} ddp_step_plug;

#endif
