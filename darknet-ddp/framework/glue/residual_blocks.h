/* glue/residual_blocks.h: the residual blocks of a network that it can be trained without.
 *
 * A block is what lies between a [shortcut] and the layer that it names: x -> x + f(x), f being the
 * layers between. Without f the shortcut passes x on. For that
 *
 * - the shortcut names one layer, of its own size, and has no weights;
 * - nobody else reads an f's layer, and an f reads nothing before x;
 * - f's layers pass on what they get: no heads, no losses, none that remember a time step, none
 *   that change x in place, and none whose weights are shared;
 * - no block lies within it: the inner one is the block.
 */
#ifndef DDP_GLUE_RESIDUAL_BLOCKS_H
#define DDP_GLUE_RESIDUAL_BLOCKS_H

#include "algorithms/plugs.h"
#include "base/status.h"

typedef struct network network;

/* *blocks: those of net from layer `from` on, from input to output, *count of them; free the array.
 * Fails with DDP_ERR_NOMEM. */
ddp_status ddp_residual_blocks_find(ddp_residual_block **blocks, int *count, const network *net,
                                    int from, ddp_error *err) DDP_MUST_CHECK;

#endif
