/* state/save.h: a Darknet network to a pair of files (checkpoint/pair.h). On rank 0, as
 * state/checkpoint.h. */
#ifndef DDP_STATE_SAVE_H
#define DDP_STATE_SAVE_H

#include "glue/param_table.h"
#include "state/checkpoint.h"

/* Save weights of the first cutoff layers at path, as Darknet does, and all that they do not
 * hold at path.state. Fails as ddp_pair_save. */
ddp_status ddp_checkpoint_save(network *net, const char *path, int cutoff, ddp_checkpoint_run *run,
                               ddp_error *err) DDP_MUST_CHECK;

/* The first half of that: *out is what ddp_pair_finish makes last, from any thread, with nothing
 * of net any more. run->saved_at_ns is set. Fails as ddp_pair_write, with DDP_ERR_FORMAT where a
 * number is not finite, and with DDP_ERR_COMM where run->sharded cannot be asked. */
ddp_status ddp_checkpoint_begin(ddp_pair_writing **out, network *net, const char *path, int cutoff,
                                ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

/* Are these the metadata that a checkpoint of net would have now, but for its time? Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_is_of(const ddp_checkpoint_metadata *m, network *net,
                                const ddp_checkpoint_run *run, int *same,
                                ddp_error *err) DDP_MUST_CHECK;

/* All that a checkpoint of net is made of: *c's arrays lie in the network, as *table has it. Free
 * c->arrays and release the table in any case. Fails with DDP_ERR_FORMAT (a number is not finite:
 * the text says which), DDP_ERR_NOMEM, and with DDP_ERR_COMM where run->sharded cannot be asked. */
ddp_status ddp_checkpoint_look_at(ddp_checkpoint *c, ddp_param_table *table, network *net,
                                  int cutoff, const ddp_checkpoint_run *run,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
