/* layers/deltas.h: which layer writes another's delta in a backward pass, and which add to it.
 *
 * A layer's delta is the gradient of the loss by its output (with Darknet's sign, the negative).
 * Layers that read the output contribute to it in the backward pass. The first of them writes the
 * delta, so that it need not be filled with zeros before; the others add. The protocol is one for
 * float32 and bf16, on a CPU and on a GPU:
 * 1. begin_deltas, before the forward pass, fills some deltas with zeros, to which all then add:
 *    those of layers whose output no layer reads, of losses, and of recurrent layers.
 * 2. prepare_deltas, before a layer's backward pass, fills its own delta with zeros if no layer has
 *    written it. If the layer can only add, it does this for the layers that it reads, too. (Not
 *    for a [dropout], which works in the memory of the layer before.)
 * 3. In its backward pass, a layer with l.sets_deltas asks sets_delta or sets_bf16_delta whether to
 *    write or to add, for each delta that it contributes to. */
#ifndef DELTAS_H
#define DELTAS_H

#include "darknet.h"

/* Bits of layer.delta_is_set. 1: layers that read the layer's output add to its delta in float32
 * (l.delta or l.delta_gpu), or to that in bf16. 0: the next of them writes it. */
enum { FLOAT_DELTA = 1, BF16_DELTA = 2 };

/* Begin the passes of a mini-batch (step 1 above). zero_delta(l) must zero l's delta, if any. */
void begin_deltas(network *net, void (*zero_delta)(layer));

/* Prepare the backward pass of layer net.index (step 2 above). If l.bf16 is not null, call
 * bf16_combine_deltas before. zero_delta(l) must zero the delta of l, if any. */
void prepare_deltas(network net, void (*zero_delta)(layer));

/* Return 1 if layer net.index must write the float32 delta of layer i, 0 if it must add to it.
 * After 1 the delta counts as written, so call this once for each write. i: from layer_source; for
 * NETWORK_INPUT returns 0. */
int sets_delta(network net, int i);

/* Return 1 if layer net.index must write the bf16 delta of layer i, 0 if it must add to it. After 1
 * the delta counts as written, so call this once for each write. Returns 0 for NETWORK_INPUT. */
int sets_bf16_delta(network net, int i);

/* Write scale*delta[i] to to[i] (set 1), or add it (set 0), for n values in host memory. */
void pass_delta(int n, float scale, const float *delta, int set, float *to);

#endif
