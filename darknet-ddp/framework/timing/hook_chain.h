/* timing/hook_chain.h: hooks that pass each call of Darknet on to a network's inner hooks, those of
 * its trainer. Code that wraps the trainer's hooks starts from these and replaces a few. */
#ifndef DDP_TIMING_HOOK_CHAIN_H
#define DDP_TIMING_HOOK_CHAIN_H

#include <darknet.h>

/* The beginning of the struct that the hooks' ctx points to. */
typedef struct ddp_hook_chain {
    const train_hooks *inner; /* hooks that get the calls; NULL: none, as without a trainer */
} ddp_hook_chain;

/* All hooks. Copy them, and point ctx to a struct that begins with a ddp_hook_chain. A function
 * that takes the place of one of these hooks passes a call on by calling that hook with its own
 * ctx. If the inner hooks have no `optimize`, set it to NULL here, too: otherwise Darknet updates a
 * layer's arrays one by one, which costs a GPU launches. */
extern const train_hooks ddp_hook_chain_hooks;

#endif
