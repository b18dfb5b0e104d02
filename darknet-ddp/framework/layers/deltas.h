/* layers/deltas.h: which layer sets another's delta in a backward pass, and which add to it.
 *
 * A layer's delta is the gradient of the loss by its output. The layers that read the output, its
 * readers, write it. The first reader sets it, so that it need not be filled with zeros before; the
 * others add. The protocol is one for float32 and bf16, on a CPU and on a GPU:
 * 1. begin_deltas, before the forward pass: fills some deltas with zeros, which count as set: those
 *    of layers whose output no layer reads, of losses, and of recurrent layers.
 * 2. prepare_deltas, before the backward pass of a layer: if nobody has set its own delta, fills it
 *    with zeros. If the layer can only add, also fills those that it writes and nobody has set. A
 *    [dropout] fills none: it works in the memory of the layer before.
 * 3. In its backward pass a layer with l.sets_deltas asks sets_delta for each layer whose delta it
 *    writes. */
#ifndef DELTAS_H
#define DELTAS_H

#include "darknet.h"

/* Bits of layer.delta_is_set: the backward pass under way has set the layer's delta in float32
 * (l.delta or l.delta_gpu), or the one in bf16. */
enum { FLOAT_DELTA = 1, BF16_DELTA = 2 };

/* Begin the passes of a mini-batch (step 1 above). zero(l) must zero the delta of l, if any. */
void begin_deltas(network *net, void (*zero)(layer));

/* Prepare the backward pass of layer net.index (step 2 above). If the layer has a delta in bf16,
 * call this after adding that delta to the one in float32. zero(l) must zero the delta of l, if
 * any. */
void prepare_deltas(network net, void (*zero)(layer));

/* Return 1 if layer net.index must set all of the float32 delta of layer i, because no layer has
 * written it in this backward pass. Return 0 if layer net.index must add, or if i is NETWORK_INPUT.
 * i: as layer_source returns it. Call one time for each write: it notes that the delta is set. */
int sets_delta(network net, int i);

/* Return 1 if layer net.index must set the bf16 delta of layer i, 0 if it must add (sets_delta). */
int sets_bf16_delta(network net, int i);

/* Write scale*delta[i] to to[i], for n values in host memory. set: 0 adds it instead. */
void pass_delta(int n, float scale, const float *delta, int set, float *to);

#endif
