/* trainer/trainer.h: trains one Darknet network on all ranks of a group.
 *
 * Darknet's own loop stays in charge. The trainer sets net->hooks. Then train_network sums
 * gradients over ranks while backward runs, updates with the sums and returns the mean loss of all
 * ranks. Layers whose gradients are deferred (core/reducer.h) are updated in the next forward pass,
 * or when Darknet is about to save.
 *
 * Unless said otherwise, call from the training thread. "Collective" functions wait for all ranks,
 * and every rank must call them. "Attached": between ddp_trainer_attach and ddp_trainer_detach. */
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

/* Settings of a trainer. All but asked, bad_data and the functions are the same on all ranks. */
typedef struct ddp_trainer_config {
    ddp_reducer_config reducer;
    ddp_batch_mode batch_mode;
    int broadcast_buffers; /* 1: ranks share BatchNorm's running statistics after each step; 0:
                              never, rank 0's own are saved */
    int exact;             /* 1: same bits on any number of ranks (core/batch.h); the trainer
                              then sets reducer.mini_batches */
    int sync_bn;    /* 1: BatchNorm normalizes with the statistics of all ranks' mini-batches */
    int sync_every; /* batches whose gradients make one update, at least 1 */
    /* Options that choose and set up the run's algorithms (algorithms/algorithm.h). Must outlive
     * the trainer. NULL: there are none. */
    const ddp_options *options;
    uint64_t seed; /* the run's seed */
    /* DDP_REQUESTS flags (core/loss.h) that anybody may set, also a signal handler, to ask
     * something of the run. All ranks learn of them with the loss of this step or, if its last
     * backward pass has ended here, of the next one. Must outlive the trainer. NULL: none. */
    volatile sig_atomic_t *asked;
    size_t compress_after; /* algorithms change sums of gradients only after this step, from 1 */
    /* Steps between two comparisons of ranks' parameters; 0: never. One rank, or more than
     * DDP_EQUAL_RANKS (core/equal_check.h), are never compared. */
    int verify_every;
    /* Record of unreadable samples. Must outlive the trainer. NULL: nobody looks for them. */
    ddp_bad_samples *bad_data;
    /* Ends every rank because `samples` samples of step `step`, of all ranks together, cannot be
     * read (samples/bad_samples.h). Network and counters are as the last whole update left them.
     * Must be set if bad_data is. */
    void (*unreadable)(network *net, size_t step, size_t samples) __attribute__((noreturn));
    /* Decides on steps with numbers that are not finite. If guard.skip_most is not 0,
     * reducer.defer_bytes and reducer.priority must be 0. */
    ddp_nan_guard_config guard;
    /* Ends the program with an error, which a hook cannot return. */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_trainer_config;

/* Create a trainer for `group`, which must outlive it; *config is copied. *out is NULL unless it
 * returns DDP_OK. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trainer_open(ddp_trainer **out, ddp_group *group, const ddp_trainer_config *config,
                            ddp_error *err) DDP_MUST_CHECK;

/* Detach the network, if one is attached, and free the trainer. NULL is allowed. */
void ddp_trainer_close(ddp_trainer *t);

/* Set another seed, that of a run which is resumed. Call before ddp_trainer_attach. */
void ddp_trainer_set_seed(ddp_trainer *t, uint64_t seed);

/* Change *batch and *subdivisions from the cfg's values to those of a rank (core/batch.h). Call
 * while the network is parsed. Fails with DDP_ERR_USAGE, and changes neither, if ddp_batch_split
 * or, with config.exact, ddp_exact_check refuses them. */
ddp_status ddp_trainer_split(ddp_trainer *t, int *batch, int *subdivisions,
                             ddp_error *err) DDP_MUST_CHECK;

/* Open the algorithms of config.options for net, and close those that were open. Call on every rank
 * after net is parsed and before it is resumed; else ddp_trainer_attach opens them. Fails with
 * DDP_ERR_USAGE (one does not go with this network), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_trainer_open_algorithms(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

/* Return the algorithms that ddp_trainer_open_algorithms or ddp_trainer_attach opened; NULL if
 * there are none. The trainer owns them until it opens others or is closed. */
const ddp_algorithm_set *ddp_trainer_algorithms(const ddp_trainer *t);

/* Return how ddp_trainer_split cut the batch last. Its time_steps is right only after
 * ddp_trainer_attach. */
ddp_batch ddp_trainer_batch(const ddp_trainer *t);

/* Begin to train net, on every rank. Blocks until all ranks are here, and compares their networks
 * and settings. Then all have the root's parameters, BatchNorm statistics and counters; the root is
 * rank 0, or that of ddp_trainer_set_resumed. The count of seen images is rounded down to a whole
 * update, unless the run's last step is done. With DDP_BATCH_RANK net's learning rate is multiplied
 * by the number of ranks, once in net's life. net must have been parsed after ddp_trainer_split,
 * have no hooks, and outlive its attachment. If it fails, nothing is attached. DDP_ERR_USAGE:
 * BatchNorm has one value to normalise (core/batchnorm_check.h), an update has too many images, an
 * algorithm does not go with this network, or ddp_param_table_init refuses it. Fails also with
 * DDP_ERR_MISMATCH, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_trainer_attach(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

/* Stop training the network: finish what is under way with other ranks (collective), and give the
 * network its own buffers back. free_network calls this. If an algorithm keeps the optimizer's
 * moments elsewhere, the network's are zero then. Does nothing if none is attached. Failures end in
 * config.fail. */
void ddp_trainer_detach(ddp_trainer *t);

/* Wait for all sums under way, and update the layers that wait for them. Then the network can be
 * read. A failure ends the program by config.fail. Only while attached, on every rank. */
void ddp_trainer_flush(ddp_trainer *t);

/* Return 1 if all ranks have the same parameters; every rank gets the same answer. Always 1
 * unless an algorithm has ranks update with their own gradients for a while (ddp_step_plug).
 * Call after a step whose loss Darknet has asked for. Saves and validations wait for 1. */
int ddp_trainer_in_sync(const ddp_trainer *t);

/* Return after at most how many steps all ranks have the same parameters, so that a save is
 * possible: 1 if they have them now, else the algorithm's bound. Only while attached. */
size_t ddp_trainer_steps_to_sync(const ddp_trainer *t);

/* Give all ranks the same parameters, as the algorithm does it, unless they have them. Collective;
 * call between two steps. A failure ends the program by config.fail. Only while attached. */
void ddp_trainer_sync(ddp_trainer *t);

/* Say that the run is resumed: all ranks will get the counters, parameters and optimizer state of
 * rank `root`. Call on every rank, before ddp_trainer_attach.
 * first  on root: source of the moments that are shared out (ddp_algorithm_set_shards), valid
 *        until ddp_trainer_attach has returned; NULL: the network has all moments */
void ddp_trainer_set_resumed(ddp_trainer *t, int root, const ddp_sharded_source *first);

/* Go back to the last whole update: the counter of images and BatchNorm's statistics become what
 * they were then. Only with config.bad_data, on every rank, between two steps. A failure ends the
 * program by config.fail. */
void ddp_trainer_rollback(ddp_trainer *t);

/* Return which requests (config.asked) any rank had; every rank gets the same ones. They came with
 * the loss that Darknet asked for last. Only while attached. */
ddp_requests ddp_trainer_requested(const ddp_trainer *t);

/* Return how many samples of the last step, of all ranks, were replaced because they could not be
 * read; 0 without config.bad_data. Only while attached. */
size_t ddp_trainer_bad_samples(const ddp_trainer *t);

/* Return the mean loss of an image, of all ranks, in the step whose loss Darknet asked for last. */
double ddp_trainer_loss(const ddp_trainer *t);

/* Return the network, the reducer or the parameter table that the trainer uses. The trainer owns
 * reducer and table. Only while attached. */
const network *ddp_trainer_network(const ddp_trainer *t);
ddp_reducer *ddp_trainer_reducer(const ddp_trainer *t);
const ddp_param_table *ddp_trainer_table(const ddp_trainer *t);

/* Return the wall time since attach, in nanoseconds, that this rank has spent in communication:
 * waiting, and moving messages in between. On a GPU: how long the GPU's work stood still for
 * communication, up to the last step that has ended there. Only while attached. */
int64_t ddp_trainer_communication_ns(const ddp_trainer *t);

/* Wall time since attach, in nanoseconds, of each phase of training, without communication.
 * outside_ns: time between steps and between mini-batches, in which samples are waited for. If a
 * GPU computes, all but outside_ns are 0, since the host only knows when work was queued. */
typedef struct ddp_trainer_times {
    int64_t forward_ns, backward_ns, update_ns, outside_ns;
} ddp_trainer_times;

/* Return the times of the phases so far. Only while attached. */
ddp_trainer_times ddp_trainer_total_times(ddp_trainer *t);

#endif
