/* A network without a framework: a parameter table, and steps whose gradients and order of
 * readiness follow from a seed. So each rank can tell what the sum over all of them must be. */
#ifndef DDP_TESTS_UNIT_TOY_H
#define DDP_TESTS_UNIT_TOY_H

#include "core/params.h"
#include "core/reducer.h"
#include "ranks.h"

enum { TOY_LAYERS = 10, TOY_PARAMS = 10, TOY_PASSES = 4 };

/* The network. Layers 1, 3, 4, 6 and 8 have one parameter or several. Some sizes are multiples of
 * the alignment, some are not, and one is large enough to be cut into messages. */
struct toy {
    ddp_param_table table;
    ddp_param params[TOY_PARAMS];
    float *values[TOY_PARAMS];
    float *gradients[TOY_PARAMS]; /* present places of gradients; a reducer moves them */
    float *memory[TOY_PARAMS];    /* own memory of gradients, in use without a reducer */
};

/* Open the network. Values and gradients are zero. */
void toy_open(struct toy *t, int first_trained);
void toy_close(struct toy *t);

struct toy_step {
    unsigned seed;
    int passes;    /* number of passes, 1 to TOY_PASSES */
    int any_float; /* 0: gradients are small integers, which any order sums alike */
    /* Return 1 if the layer runs backward in this pass. NULL: every layer does. */
    int (*runs)(const struct toy_step *s, int rank, int pass, int layer);
    int tells; /* 1: the reducer is told which layers run on no rank (ddp_reducer_drop_layers) */
};

/* Run all passes of the step on rank me. The last one syncs. */
void toy_backward(struct toy *t, ddp_reducer *r, const struct toy_step *s, struct rank *me);

/* Wait for every layer and compare: gradients with the serial sum over all ranks and passes, `used`
 * with whether any of them ran the layer. Then end the step, and clear the gradients of used
 * layers, as an update does. */
void toy_update(struct toy *t, ddp_reducer *r, const struct toy_step *s, struct rank *me);

/* Return what rank adds to element i of a parameter in a pass. */
float toy_gradient(const struct toy_step *s, int rank, int pass, size_t param, size_t i);

/* Return 1 if the layer has parameters. */
int toy_has_params(int layer);

#endif
