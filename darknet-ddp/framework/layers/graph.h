/* layers/graph.h: which layers of a network read which.
 *
 * Code that follows values through a network asks here, such as the passes, bf16, inference and the
 * parser. The table in graph.c has a row for each type; layer_source ends the program at a type
 * without one.
 *
 * A [dropout] changes its input in place. If [dropout] layers follow layer i directly, a later
 * reader of i gets the output of the last of them: it is the reader's actual source. */
#ifndef GRAPH_H
#define GRAPH_H

#include "darknet.h"

enum { NETWORK_INPUT = -1, NO_SOURCE = -2 };

/* Return the index of the k-th layer, from 0, that layer i reads. The layer before i comes first,
 * if i's type reads it, then the layers that the cfg names. A layer may come twice. Returns
 * NETWORK_INPUT for the network's input, NO_SOURCE if i reads k layers or fewer. */
int layer_source(const network *net, int i, int k);

/* Return the index of the actual source of layer `reader`, whose layer_source is i. That is the
 * last of the [dropout] layers that follow i directly, before `reader`; i if there is none.
 * NETWORK_INPUT stays as it is. `reader` is greater than i. */
int layer_actual_source(const network *net, int i, int reader);

/* Return the index of the first layer behind layer `after` that has layer i as an actual source;
 * net->n if there is none. If a [dropout] stands right behind i, only that [dropout] has i
 * as an actual source. */
int layer_reader(const network *net, int i, int after);

/* Return 1 if layer i uses the weights of another layer, or another layer uses those of layer i. */
int layer_is_shared(const network *net, int i);

/* Return 1 if layer i takes gradients: it has a delta. A [crop] has none, nor has a [dropout]
 * behind a [crop]. */
int layer_takes_gradient(const network *net, int i);

/* Return 1 if a layer of this type only passes values on within a pass. Its output then depends on
 * the sources' outputs of that pass, and its delta on the readers' deltas. Return 0 for losses,
 * recurrent layers, [crop] and types that graph.c does not know. */
int layer_type_passes_on(LAYER_TYPE type);

/* Return 1 if graph.c has a row for this type. */
int layer_type_is_known(LAYER_TYPE type);

#endif
