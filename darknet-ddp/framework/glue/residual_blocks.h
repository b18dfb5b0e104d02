/* glue/residual_blocks.h: finds the residual blocks of a network that a step of training can leave
 * out.
 *
 * A block is the layers between a [shortcut] and the layer that it names: x -> x + f(x), where f is
 * those layers. Without f the shortcut passes x on. A block counts only if
 *
 * - the shortcut names one layer, of its own size, and has no weights;
 * - no other layer reads a layer of f, and f reads nothing before x;
 * - f's layers compute from what they read alone (layer_type_passes_on): no heads and no losses,
 *   none that remember a time step;
 * - none of them changes x in place, or shares weights;
 * - no other block lies within it: then the inner one counts. */
#ifndef DDP_GLUE_RESIDUAL_BLOCKS_H
#define DDP_GLUE_RESIDUAL_BLOCKS_H

#include "algorithms/plugs.h"
#include "base/status.h"

typedef struct network network;

/* Set *blocks to the *count blocks of net that begin at layer `from` or behind it, from input to
 * output. The caller frees the array. Fails with DDP_ERR_NOMEM; *blocks is then NULL. */
ddp_status ddp_residual_blocks_find(ddp_residual_block **blocks, int *count, const network *net,
                                    int from, ddp_error *err) DDP_MUST_CHECK;

#endif
