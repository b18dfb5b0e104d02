/* algorithms/plugs.h: where a step of training calls an algorithm. Each plug is a table of
 * functions whose first argument is the algorithm's own state. A NULL function, or a NULL table,
 * means: as in a plain run. Two algorithms that control the same thing exclude each other
 * (algorithms/claims.h), so each plug has at most one. Calls come in one order on every rank, from
 * one thread. */
#ifndef DDP_ALGORITHMS_PLUGS_H
#define DDP_ALGORITHMS_PLUGS_H

#include "base/status.h"

#include <stddef.h>

/* Layers `first` to `last` of a network, which it can be trained without: they lie between the
 * [shortcut] behind them and the layer that it names. */
typedef struct ddp_residual_block {
    int first, last;
    int shortcut; /* last + 1 */
} ddp_residual_block;

/* Decides which layers a step has; the same on every rank. The trainer tells the framework,
 * BatchNorm's statistics and the reducer. */
typedef struct ddp_layers_plug {
    /* Choose, once, before the step that follows `step` steps. Set dropped to 1 for each layer of
     * the network that this step is trained without; all layers of a block alike. Set scale to the
     * factor by which each shortcut multiplies its block's output. Both are as the last call left
     * them, and at first 0 and 1. */
    void (*choose)(void *self, size_t step, char *dropped, float *scale);
} ddp_layers_plug;

/* One array that the framework is about to update. */
typedef struct ddp_array_update {
    float *value, *gradient; /* count elements each, on the table's device */
    size_t count;
    /* Do the framework's own update of elements begin to end. moments: end - begin of each
     * (core/sharded.h); NULL: the framework's own, of all elements. */
    void (*apply)(const struct ddp_array_update *u, size_t begin, size_t end,
                  float *const *moments);
} ddp_array_update;

/* Decides who updates what. */
typedef struct ddp_update_plug {
    /* Replaces the framework's update of an array. */
    void (*optimize)(void *self, const ddp_array_update *u);
    /* Called when the last layer of a step has been updated. Fails with DDP_ERR_COMM. */
    ddp_status (*updated)(void *self, ddp_error *err);
    /* Wait until what other ranks have updated of the layer is in its parameters. Called before a
     * forward pass, or other code, reads them, once for each layer that was updated. Fails with
     * DDP_ERR_COMM. */
    ddp_status (*receive_layer)(void *self, int layer, ddp_error *err);
} ddp_update_plug;

/* Decides which steps sum gradients; the same on every rank. In a step that does not, each rank
 * updates with its own, and ranks differ until they are brought into sync again. Code that needs
 * them in sync asks the trainer (ddp_trainer_in_sync) and waits. */
typedef struct ddp_step_plug {
    /* Return 1 if gradients are summed in this step, from 1. */
    int (*syncs_gradients)(const void *self, size_t step);
    /* For a local step: return 1 if ranks are to be in sync when it has ended. */
    int (*ends_in_sync)(const void *self, size_t step);
    /* Begin a local step's updates, at this learning rate. Returns what a rank's own gradients are
     * multiplied by. */
    double (*begin_update)(void *self, double rate);
    /* Called when this rank is about to update the layer. */
    void (*updates)(void *self, int layer);
    /* Return 1 if ranks are in sync; else most_steps returns after at most how many steps they are.
     */
    int (*in_sync)(const void *self);
    size_t (*most_steps)(const void *self);
    /* Bring ranks into sync, between two steps, on every rank. Blocks. Fails with DDP_ERR_FORMAT on
     * every rank if what they have is not finite, and with DDP_ERR_COMM. */
    ddp_status (*sync)(void *self, ddp_error *err);
} ddp_step_plug;

#endif
