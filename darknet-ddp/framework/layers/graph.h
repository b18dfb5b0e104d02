/* layers/graph.h: which layers of a network read which.
 *
 * Code that follows values through a network asks here: the passes, bf16, residual blocks, the
 * parser. The table in graph.c has a row for each LAYER_TYPE. In layer_source a type without a row
 * ends the program. */
#ifndef GRAPH_H
#define GRAPH_H

#include "darknet.h"

enum { NETWORK_INPUT = -1, NO_SOURCE = -2 };

/* Return the index of the k-th layer, k from 0, that layer i reads: the layer before it, if its
 * type reads that, then those that the cfg lists. Layers may repeat. Return NETWORK_INPUT for the
 * network's input, NO_SOURCE if i reads k layers or fewer. */
int layer_source(const network *net, int i, int k);

/* Return the index of the layer whose output `reader` gets if its layer_source is i. This is i,
 * unless [dropout] layers stand right behind i: a [dropout] changes its input in place. Then it is
 * the last of them before `reader`. NETWORK_INPUT stays as it is. `reader` is above i. */
int layer_actual_source(const network *net, int i, int reader);

/* Return the index of the first layer behind layer `after` that gets the output of layer i (its
 * layer_actual_source is i); net->n if none. If [dropout] stands right behind i, only it does. */
int layer_reader(const network *net, int i, int after);

/* Return 1 if layer i uses the weights of another layer, or another layer uses those of layer i. */
int layer_is_shared(const network *net, int i);

/* Return 1 if layer i takes gradients, that is, has a delta. [crop] has none, nor has a [dropout]
 * behind a [crop]. */
int layer_takes_gradient(const network *net, int i);

/* Return 1 if a layer of this type only passes values on: its output depends only on what it reads
 * in the same pass, its delta only on its readers. Return 0 for losses, recurrent layers, [crop]
 * and types that graph.c does not know. */
int layer_type_passes_on(LAYER_TYPE type);

/* Return 1 if graph.c has a row for this type. */
int layer_type_is_known(LAYER_TYPE type);

#endif
