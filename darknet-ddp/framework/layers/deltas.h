/* layers/deltas.h: which layer sets another's delta in a backward pass, and which add to it.
 *
 * The protocol is one for float32 and bf16, on a CPU and on a GPU. No delta is filled with zeros
 * that a reader sets.
 * 1. begin_deltas, before the forward pass: nothing is set. A delta that no reader passes back to,
 * and one that its layer makes in the forward pass (a loss), is filled with zeros and counts as
 * set.
 * 2. prepare_deltas, before the backward pass of a layer: its own delta is zeros if nobody has set
 * it. If the layer can only add, the deltas that it passes back to are zeros, too, if nobody has
 * set them.
 * 3. In its backward pass a layer with l.sets_deltas asks sets_delta for each layer that it passes
 * back to.
 */
#ifndef DELTAS_H
#define DELTAS_H

#include "darknet.h"

/* Values of layer.delta_is_set: l.delta or l.delta_gpu was set in this backward pass, or the delta
 * in bf16. */
enum { FLOAT_DELTA = 1, BF16_DELTA = 2 };

/* Begin the passes of a mini-batch. `zero` fills a layer's delta, if it has one, with zeros. */
void begin_deltas(network *net, void (*zero)(layer));

/* Prepare the backward pass of layer net.index. Call after a delta in bf16 was added to it. */
void prepare_deltas(network net, void (*zero)(layer));

/* Return 1 if layer net.index must set all of the delta of layer i: it is the first in this
 * backward pass to write to it. Return 0 if it must add, and for NETWORK_INPUT. Each call counts as
 * a write, so call once for each. */
int sets_delta(network net, int i);

/* Do for the delta of layer i in bf16 what sets_delta does for that in float32. */
int sets_bf16_delta(network net, int i);

/* Set to[0..n) to scale*delta if `set`, else add it. */
void pass_delta(int n, float scale, const float *delta, int set, float *to);

#endif
