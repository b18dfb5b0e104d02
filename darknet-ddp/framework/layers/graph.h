/* layers/graph.h: which layers of a network a layer reads.
 *
 * graph.c has a row for each LAYER_TYPE. Code that follows values through a network asks here: the
 * passes, bf16, residual blocks, the parser. If a layer's type has no row, layer_source ends the
 * program with the type's name. */
#ifndef GRAPH_H
#define GRAPH_H

#include "darknet.h"

enum { NETWORK_INPUT = -1, NO_SOURCE = -2 };

/* Return the index of the k-th layer, from 0, that layer i reads, as the cfg names it.
 * NETWORK_INPUT: the network's input. NO_SOURCE: it reads k layers or fewer. Layers may repeat. */
int layer_source(const network *net, int i, int k);

/* Return the index of the layer whose output layer `reader` gets where it reads layer i. This is i
 * or, if [dropout] layers stand right behind i and before reader, the last of them: they work in
 * i's memory. reader > i. NETWORK_INPUT stays as it is. */
int layer_owner(const network *net, int i, int reader);

/* Return the index of the first layer behind layer `after` that gets layer i's output (layer_owner
 * returns i); net->n if none does. If [dropout] stands right behind i, only [dropout] does.
 */
int layer_reader(const network *net, int i, int after);

/* Return 1 if layer i uses another layer's weights, or another layer uses layer i's. */
int layer_is_shared(const network *net, int i);

/* Return 1 if layer i, from 0, has a delta, to which its readers add what they pass back. [crop]
 * has none, nor has a [dropout] behind a [crop], whose memory it shows. */
int layer_takes_gradient(const network *net, int i);

/* Return 1 if a layer of this type computes its output only from what it reads in the same pass,
 * and only its readers add to its delta. Return 0 for losses, which make a delta; for
 * recurrent layers, which remember; for [crop]; and for types that graph.c does not know. */
int layer_type_passes_on(LAYER_TYPE type);

/* Return 1 if graph.c has a row for this type. */
int layer_type_is_known(LAYER_TYPE type);

#endif
