/* trainer/trainer.h: trains one Darknet network on all ranks of a group.
 *
 * Darknet's own loop calls train_network, as without DDP. An attached trainer has put hooks into
 * the network (net->hooks). By them train_network sums gradients over ranks while the backward pass
 * runs, and updates with the sums, but not in local steps (local SGD). It returns the mean loss of
 * all ranks. Layers whose gradients are deferred (core/reducer.h) are updated in the next forward
 * pass, or before somebody else reads the network.
 *
 *   1. ddp_trainer_open
 *   2. ddp_trainer_split            while Darknet parses the cfg
 *   3. ddp_trainer_open_algorithms, ddp_trainer_set_seed, ddp_trainer_set_resumed, to resume a run
 *   4. ddp_trainer_attach           then the network is "attached"
 *   5. train_network                by Darknet, for each step
 *   6. ddp_trainer_detach, ddp_trainer_close
 *
 * Call from the training thread. "Collective" functions wait for all ranks, and every rank must
 * call them. */
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
    ddp_reducer_config reducer; /* attaching sets mini_batches, sharded, codec and codec_self */
    /* Whether batch= is a rank's batch or that of all ranks. With DDP_BATCH_RANK a network's first
     * attachment multiplies its learning rate by the number of ranks. */
    ddp_batch_mode batch_mode;
    /* 1: ranks get the same running statistics of BatchNorm after each step, but not after local
     * ones (local SGD). 0: never; saves have rank 0's */
    int broadcast_buffers;
    int exact;      /* 1: same bits on any number of ranks (core/batch.h) */
    int sync_bn;    /* 1: BatchNorm normalizes with the statistics of all ranks' mini-batches */
    int sync_every; /* batches whose gradients make one update, at least 1 */
    /* Options that choose the run's algorithms (algorithms/algorithm.h). Must outlive the trainer.
     * NULL: no algorithms. */
    const ddp_options *options;
    uint64_t seed; /* the run's seed, by which algorithms draw */
    /* DDP_REQUESTS flags of this rank (core/loss.h), which a signal handler may set. Flags that are
     * set when a step's last backward pass ends go with the step's loss, and become 0. Must outlive
     * the trainer. NULL: none. */
    volatile sig_atomic_t *asked;
    size_t compress_after; /* number of first steps of the run whose gradients are not compressed */
    /* Steps between two comparisons of ranks' parameters; 0: none. One rank, or more than
     * DDP_EQUAL_RANKS (core/equal_check.h), are never compared. */
    int verify_every;
    /* Record of unreadable samples. Must outlive the trainer. NULL: unreadable samples do not end
     * the run. */
    ddp_bad_samples *bad_data;
    /* End the program because `samples` samples of step `step`, of all ranks together, cannot be
     * read. Called on every rank; network and counters are as the last whole update left them. Must
     * be set if bad_data is. */
    void (*unreadable)(network *net, size_t step, size_t samples) __attribute__((noreturn));
    /* How to treat numbers that are not finite. If guard.skip_most is not 0, reducer.defer_bytes
     * and reducer.priority must be 0. */
    ddp_nan_guard_config guard;
    /* End the program with an error, which a hook cannot return. Not NULL. */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_trainer_config;

/* Create a trainer for `group`, which must outlive it; *config is copied. *out is NULL unless it
 * returns DDP_OK. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trainer_open(ddp_trainer **out, ddp_group *group, const ddp_trainer_config *config,
                            ddp_error *err) DDP_MUST_CHECK;

/* Detach the network, if one is attached (collective), and free the trainer. NULL is allowed. */
void ddp_trainer_close(ddp_trainer *t);

/* Replace config.seed by the seed of a resumed run. Call before ddp_trainer_attach. */
void ddp_trainer_set_seed(ddp_trainer *t, uint64_t seed);

/* Cut the cfg's batch over the ranks (core/batch.h): replace *batch and *subdivisions of the cfg by
 * those with which the network is to be made. Call while Darknet parses the cfg. Fails with
 * DDP_ERR_USAGE, and changes neither, if ddp_batch_split fails or, with config.exact,
 * ddp_exact_check. */
ddp_status ddp_trainer_split(ddp_trainer *t, int *batch, int *subdivisions,
                             ddp_error *err) DDP_MUST_CHECK;

/* Open the algorithms of config.options for net, and close those that were open. Call on every rank
 * when net is parsed, before a checkpoint is loaded into their state. Without this call
 * ddp_trainer_attach opens them. After a failure none is open, nor if config.options is NULL.
 * Fails with DDP_ERR_USAGE (one does not go with net, or an updated layer's type is unknown),
 * DDP_ERR_NOMEM. */
ddp_status ddp_trainer_open_algorithms(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

/* Return the open algorithms; NULL if there are none. The trainer owns them. */
const ddp_algorithm_set *ddp_trainer_algorithms(const ddp_trainer *t);

/* Return how ddp_trainer_split cut the batch; all zero before. time_steps is right only after
 * ddp_trainer_attach. */
ddp_batch ddp_trainer_batch(const ddp_trainer *t);

/* Attach net, so that train_network trains it on all ranks (collective). All ranks get the
 * parameters, BatchNorm statistics and counters of rank 0, or of ddp_trainer_set_resumed's root.
 * The count of seen images is rounded down to a whole update, unless the run's last step is done.
 * The network must be parsed with ddp_trainer_split's values, have no hooks, and stay until it is
 * detached. On failure nothing is attached, but net may have changed. Fails with:
 *   DDP_ERR_MISMATCH   networks or settings of ranks differ
 *   DDP_ERR_USAGE      net cannot be trained so; the text says why
 *   DDP_ERR_NOMEM, DDP_ERR_COMM, or on the root the error of ddp_trainer_set_resumed's moments;
 *                      other ranks may then wait until the failed one ends the group */
ddp_status ddp_trainer_attach(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

/* Detach the network: wait for the sums under way (collective), and give the network its own
 * gradient buffers back. Darknet's free_network calls this. If an algorithm kept the optimizer's
 * moments elsewhere, the network's are zero then, or NULL if a GPU lacks memory. Does nothing if
 * none is attached. A failure ends the program by config.fail. */
void ddp_trainer_detach(ddp_trainer *t);

/* Wait for the sums of gradients and BatchNorm statistics under way, and update the layers that
 * wait for a sum, so that the network can be read (collective). A failure ends the program by
 * config.fail. Only while attached. */
void ddp_trainer_flush(ddp_trainer *t);

/* Return 1 if all ranks have the same parameters, as a save or validation needs; else 0. Every rank
 * gets the same answer. It is 0 only in a period of local SGD (ddp_step_plug). Call after a step
 * whose loss Darknet has asked for. */
int ddp_trainer_in_sync(const ddp_trainer *t);

/* Return after how many steps, at most, all ranks have the same parameters. The step under way
 * counts, so the result is 1 if they are the same now. Only while attached. */
size_t ddp_trainer_steps_to_sync(const ddp_trainer *t);

/* Give all ranks the same parameters, as the algorithm of the run does (local SGD: their mean).
 * Does nothing if ddp_trainer_in_sync returns 1. Collective. Call between two steps, while
 * attached. A failure ends the program by config.fail. */
void ddp_trainer_sync(ddp_trainer *t);

/* Have ddp_trainer_attach give all ranks the counters, parameters and optimizer state of rank
 * `root`, which has loaded a checkpoint. Call on every rank, before ddp_trainer_attach.
 *   moments   on root: reads the optimizer's moments if they are sharded
 *             (ddp_algorithm_set_is_sharded). Must stay until ddp_trainer_attach has returned.
 *             NULL: the network has all moments. Other ranks' is ignored */
void ddp_trainer_set_resumed(ddp_trainer *t, int root, const ddp_sharded_source *moments);

/* Take back the batches since the last whole update (with sync_every): set the counter of images
 * and BatchNorm's statistics to what they were then. Their gradients stay, so train no more. Call
 * on every rank, between two steps, only with config.bad_data, while attached. A failure ends the
 * program by config.fail. */
void ddp_trainer_rollback(ddp_trainer *t);

/* Return the requests (config.asked) of all ranks that came with the last loss to arrive; all 0
 * before the first. Every rank gets the same ones. Only while attached. */
ddp_requests ddp_trainer_requested(const ddp_trainer *t);

/* Return how many samples of the last step, of all ranks, were replaced by others because they
 * could not be read; 0 without config.bad_data. Only while attached. */
size_t ddp_trainer_replaced_samples(const ddp_trainer *t);

/* Return the mean loss per image, over all ranks, in the step whose loss Darknet asked for last. If
 * that is not finite, return the last finite one. 0 before the first. */
double ddp_trainer_loss(const ddp_trainer *t);

/* Return the trainer's settings, which it owns. */
const ddp_trainer_config *ddp_trainer_settings(const ddp_trainer *t);

/* Return the attached network, or the reducer or parameter table that the trainer uses for it. The
 * trainer owns reducer and table. Only while attached. */
const network *ddp_trainer_network(const ddp_trainer *t);
ddp_reducer *ddp_trainer_reducer(const ddp_trainer *t);
const ddp_param_table *ddp_trainer_table(const ddp_trainer *t);

/* Return the wall time since attach, in nanoseconds, that this rank has spent waiting for messages
 * and moving them. On a GPU: how long the GPU's work stood still for communication, up to the last
 * step that has ended there. Only while attached. */
int64_t ddp_trainer_communication_ns(const ddp_trainer *t);

/* Wall time since attach, in nanoseconds, of each phase of training, without communication. */
typedef struct ddp_trainer_times {
    /* 0 if a GPU computes, since the host only knows when work was queued */
    int64_t forward_ns, backward_ns, update_ns;
    /* all time between steps and mini-batches: waits for samples, but also saves, validations */
    int64_t outside_ns;
} ddp_trainer_times;

/* Return the times of the phases so far. Only while attached. */
ddp_trainer_times ddp_trainer_total_times(ddp_trainer *t);

#endif
