/* glue/residual_blocks.h: finds the residual blocks of a network that a step of training can leave
 * out (stochastic depth).
 *
 * A block is the layers between a [shortcut] and the layer x that it adds: x -> x + f(x), where f
 * is these layers. If a step leaves out f, the shortcut passes x on. A block is found if:
 *
 * - the shortcut adds one layer, of its own size, and has no weights;
 * - no layer outside of f reads a layer of f, but the shortcut; and f reads nothing before x;
 * - f has only layers that pass values on (layer_type_passes_on), so no heads or losses;
 * - no layer of f changes x in place, or shares weights;
 * - no other block lies within it: then the inner one is found. */
#ifndef DDP_GLUE_RESIDUAL_BLOCKS_H
#define DDP_GLUE_RESIDUAL_BLOCKS_H

#include "algorithms/plugs.h"
#include "base/status.h"

typedef struct network network;

/* Set *blocks to the blocks of net whose layers are all `from` or later, from input to output, and
 * *count to their number. The caller frees *blocks. Fails with DDP_ERR_NOMEM; *blocks is then
 * NULL. */
ddp_status ddp_residual_blocks_find(ddp_residual_block **blocks, int *count, const network *net,
                                    int from, ddp_error *err) DDP_MUST_CHECK;

#endif
