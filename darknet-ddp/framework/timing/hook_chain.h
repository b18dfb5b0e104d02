/* timing/hook_chain.h: hooks for code that watches a training step. They pass each call of Darknet
 * on to other hooks, such as the trainer's; the code replaces a few by its own. */
#ifndef DDP_TIMING_HOOK_CHAIN_H
#define DDP_TIMING_HOOK_CHAIN_H

#include <darknet.h>

/* First member of the struct that the hooks' ctx points to. */
typedef struct ddp_hook_chain {
    const train_hooks *inner; /* hooks that get the calls; NULL: none, as without a trainer */
} ddp_hook_chain;

/* Hooks that pass every call on. To use them:
 *   1. Copy them. Set the copy's ctx to a struct that begins with a ddp_hook_chain.
 *   2. Replace some hooks of the copy. To pass a call on, a new hook calls the same member of
 *      ddp_hook_chain_hooks, with the ctx that it got.
 *   3. If the inner hooks have no `optimize`, set the copy's `optimize` to NULL. If it stayed,
 *      Darknet would update a layer's arrays one by one, which is slower on a GPU. */
extern const train_hooks ddp_hook_chain_hooks;

#endif
