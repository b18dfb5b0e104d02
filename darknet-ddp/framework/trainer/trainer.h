/* trainer/trainer.h: trains one Darknet network on all ranks of a group.
 *
 * Darknet's own loop stays in charge. The trainer sets net->hooks, and from then
 * on train_network sums gradients over ranks while backward runs, updates with
 * the sums and returns the mean loss of all ranks. Layers whose gradients are
 * deferred (core/reducer.h) are updated in the next forward pass, or when
 * Darknet is about to save.
 */
#ifndef DDP_TRAINER_TRAINER_H
#define DDP_TRAINER_TRAINER_H

#include "algorithms/set.h"
#include "base/status.h"
#include "comm/group.h"
#include "core/batch.h"
#include "core/loss.h"
#include "core/reducer.h"
#include "glue/network.h"
#include "samples/bad_samples.h"
#include "trainer/nan_guard.h"

#include <stdint.h>

typedef struct ddp_trainer ddp_trainer;

/* All ranks must have the same, but for asked, bad_data and the functions. */
typedef struct ddp_trainer_config {
    ddp_reducer_config reducer;
    ddp_batch_mode batch_mode;
    int broadcast_buffers; /* between one step's last forward pass and the next one's first */
    int exact;             /* 1: same bits on any number of ranks (core/batch.h); the trainer
                              then sets reducer.mini_batches */
    int sync_bn;           /* BatchNorm's statistics are those of all ranks' mini-batches */
    int sync_every;        /* batches whose gradients make one update, at least 1 */
    /* Whose algorithms are part of the run (algorithms/algorithm.h). Must outlive the trainer.
     * NULL: none is. */
    const ddp_options *options;
    uint64_t seed;
    /* DDP_REQUESTS flags that anybody may set (core/loss.h), for what this rank is asked for. All
     * ranks know of it with the loss of this step or, if its last backward pass has ended here,
     * of the next one. Must outlive the trainer. NULL: nobody asks. */
    volatile sig_atomic_t *asked;
    size_t compress_after; /* so many steps first no algorithm plugs into sums */
    int verify_every; /* steps after which ranks compare parameters (core/replica_check.h); 0: never
                       */
    /* Knows of samples that cannot be read. Must outlive the trainer. NULL: nobody looks. */
    ddp_bad_samples *bad_data;
    /* Some of the samples of this step, of all ranks together, cannot be read, and end the run
     * (samples/bad_samples.h): every rank ends here. The network is as the last whole update left
     * it, its counters too. Wanted with bad_data. */
    void (*unreadable)(network *net, size_t step, size_t samples) __attribute__((noreturn));
    /* Says what follows when numbers are not finite. With guard.skip_most nothing is updated before
     * all has arrived: reducer.defer_bytes and priority must be 0 then. */
    ddp_nan_guard_config guard;
    /* A hook cannot return an error: fail ends the program with it. */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_trainer_config;

/* group must outlive the trainer. *out is set on success.
 * Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trainer_open(ddp_trainer **out, ddp_group *group, const ddp_trainer_config *config,
                            ddp_error *err) DDP_MUST_CHECK;

/* Detaches first. NULL is allowed. */
void ddp_trainer_close(ddp_trainer *t);

/* Before attaching: set another seed, that of the run which is resumed. */
void ddp_trainer_set_seed(ddp_trainer *t, uint64_t seed);

/* Change the cfg's batch and subdivisions to this run's, while a network is
 * parsed (core/batch.h). Fails with DDP_ERR_USAGE, also for what config.exact excludes. */
ddp_status ddp_trainer_split(ddp_trainer *t, int *batch, int *subdivisions,
                             ddp_error *err) DDP_MUST_CHECK;

/* Open the algorithms of config.options for net, after it is parsed and before it is resumed or
 * attached. Attaching does so where it was not done. Fails with DDP_ERR_USAGE (one does not go with
 * this network), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_trainer_open_algorithms(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

/* Return the algorithms opened above, owned by the trainer. NULL before
 * ddp_trainer_open_algorithms. They stay until another network is attached. */
const ddp_algorithm_set *ddp_trainer_algorithms(const ddp_trainer *t);

/* Return how the last split cut the batch; time_steps is known once attached. */
ddp_batch ddp_trainer_batch(const ddp_trainer *t);

/* Train net from here on. Blocks until every rank is here, and compares what they are about to do.
 * Then all have the root's parameters, BatchNorm statistics and counters; the root is rank 0, or
 * that of ddp_trainer_set_resumed. The count of seen images is rounded down to a whole update. The
 * network must have been parsed after ddp_trainer_split and have no hooks.
 * DDP_ERR_USAGE: BatchNorm has one value to normalise (core/batchnorm_check.h), or an algorithm
 * does not go with this network. Fails also with DDP_ERR_MISMATCH, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_trainer_attach(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

/* Give the network its own buffers back; free_network does so by itself. With
 * an algorithm that keeps them its moments are zero then.
 * Nothing happens if none is attached. */
void ddp_trainer_detach(ddp_trainer *t);

/* Bring in all that still travels and update what waits for it, so that the network can be read,
 * or trained alone. What fails ends the program by config.fail. Only while attached. */
void ddp_trainer_flush(ddp_trainer *t);

/* Return 1 if all ranks have the same parameters, after a step whose loss Darknet has asked for.
 * The same on every rank. An algorithm may have ranks update with their own gradients for a while
 * (ddp_step_plug); saves and validations then wait. */
int ddp_trainer_in_sync(const ddp_trainer *t);

/* Return after at most how many steps all ranks have the same parameters, so that a save is
 * possible: 1 if they have them now, else the algorithm's bound. Only while attached. */
size_t ddp_trainer_steps_to_sync(const ddp_trainer *t);

/* Give all ranks the same parameters, between two steps, on every rank. A failure ends the program
 * by config.fail. Only while attached. */
void ddp_trainer_sync(ddp_trainer *t);

/* Say on every rank, before attaching, that the run is resumed. All ranks will have the counters,
 * parameters and optimizer state of rank `root`.
 * first  where root has the moments that are shared out (ddp_algorithm_set_shards), until the
 *        trainer is attached; NULL: the network has all */
void ddp_trainer_set_resumed(ddp_trainer *t, int root, const ddp_sharded_source *first);

/* Go back to the last whole update, between two steps, with config.bad_data, on every rank: the
 * counter and BatchNorm's statistics become what they were then. A failure ends the program by
 * config.fail. */
void ddp_trainer_rollback(ddp_trainer *t);

/* Return what any rank was asked for, as it came with the loss that Darknet asked for last: the
 * same on every rank. Only while attached. */
ddp_requests ddp_trainer_requested(const ddp_trainer *t);

/* Return how many samples of that step, of all ranks, had something else in their place. */
size_t ddp_trainer_bad_samples(const ddp_trainer *t);

/* Return the mean loss of an image in that step. Only while attached. */
double ddp_trainer_loss(const ddp_trainer *t);

/* Only while attached. */
const network *ddp_trainer_network(const ddp_trainer *t);
ddp_reducer *ddp_trainer_reducer(const ddp_trainer *t);
const ddp_param_table *ddp_trainer_table(const ddp_trainer *t);

/* Return the wall time since attach, in nanoseconds, that this rank gave to communication: waits,
 * and driving messages in between. On a GPU: how long its work stood still, up to the last step
 * that has ended there. */
int64_t ddp_trainer_communication_ns(const ddp_trainer *t);

/* Wall time since attach, in nanoseconds, that this rank gave to the phases of training, without
 * the communication in them. Outside is the time between a step's end and the next one's first
 * forward pass, and between mini-batches: samples are waited for there. Where a GPU computes, only
 * `outside` is not 0: the host only knows when work was queued. */
typedef struct ddp_trainer_times {
    int64_t forward_ns, backward_ns, update_ns, outside_ns;
} ddp_trainer_times;

/* Only while attached. */
ddp_trainer_times ddp_trainer_total_times(ddp_trainer *t);

#endif
