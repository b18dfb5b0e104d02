/* trainer/trainer_state.h: the struct and functions that the files of the trainer
 * (trainer/trainer*.c) share, and no other code sees. `before` is the position of the network
 * (ddp_train_position_of) before a mini-batch's forward pass, `now` its present position. A failure
 * of a function without ddp_error ends the program by config.fail. */
#ifndef DDP_TRAINER_TRAINER_STATE_H
#define DDP_TRAINER_TRAINER_STATE_H

#include "comm/work.h"
#include "core/batchnorm_stats.h"
#include "core/params.h"
#include "core/replica_check.h"
#include "core/sync_batchnorm.h"
#include "glue/train_position.h"
#include "trainer/trainer.h"

#include <darknet.h>

/* Indices of counts that are summed over ranks with the loss. DDP_TOLD_BAD_SAMPLES: samples
 * replaced. DDP_TOLD_BACKLOG: gradients left to send, in 1024 elements. */
enum { DDP_TOLD_BAD_SAMPLES, DDP_TOLD_BACKLOG };

typedef enum ddp_trainer_phase {
    DDP_TRAINER_OUTSIDE,
    DDP_TRAINER_FORWARD,
    DDP_TRAINER_BACKWARD,
    DDP_TRAINER_UPDATE,
    DDP_TRAINER_PHASES
} ddp_trainer_phase;

/* Layers that an algorithm drops from steps; all zero without such an algorithm. */
struct ddp_trainer_layers {
    const ddp_layers_plug *plug;
    void *self;    /* the plug's first argument */
    int *block_of; /* per layer: the number of its residual block, from 1; 0: none */
    char *dropped; /* per layer: 1 if the step under way drops it, else 0 */
    float *scale;  /* per layer; for a [shortcut]: factor, in this step, of the output before it */
    layer_drops told; /* pointers to `dropped` and `scale`, for Darknet */
};

/* Local steps, which update with each rank's own gradients; all zero if every step sums. */
struct ddp_trainer_steps {
    const ddp_step_plug *plug;
    void *self;
    int is_local;  /* 1: this step is local */
    double factor; /* factor of this rank's own gradients in this step */
    int sync_due;  /* 1: bring ranks into sync when this step has ended */
};

/* Updates by an algorithm; all zero if Darknet updates. */
struct ddp_trainer_updates {
    const ddp_update_plug *plug;
    void *self;
    int end_due; /* 1: layers were updated; the algorithm is not told yet that this has ended */
};

struct ddp_trainer {
    ddp_group *group;
    ddp_trainer_config config;
    ddp_exact_run cut; /* arguments and options of the last ddp_trainer_split that succeeded */
    ddp_batch batch;

    network *net; /* the attached network; NULL: none */
    train_hooks hooks;
    ddp_param_table table;
    ddp_reducer *reducer;
    ddp_batchnorm_stats *statistics;
    ddp_sync_batchnorm *sync_batchnorm; /* NULL: ranks' BatchNorm statistics are not joined */
    joint_statistics joint;
    char *deferred; /* per layer: 1: its update waits for the next forward pass */
    ddp_loss *loss;
    float last_loss; /* Darknet's last loss: sum over images of a rank, mean of ranks */
    ddp_nan_guard guard;
    ddp_replica_check *verify; /* compares ranks' parameters; NULL: nothing does */
    int verifying;             /* 1: a checksum of parameters travels with this step's loss */
    int backlog_told;          /* 1: how much is left to send travels with this step's loss */
    int verify_due; /* 1: a comparison waits until ranks should have the same parameters */
    ddp_algorithm_set *algorithms; /* the run's algorithms; NULL: not opened yet */
    struct ddp_trainer_layers layers;
    struct ddp_trainer_steps steps;
    struct ddp_trainer_updates updates;
    int root;    /* the rank whose parameters, counters and state all ranks begin with */
    int resumed; /* 1: the run was resumed; all ranks get the optimizer's state of `root`, too */
    /* on rank `root`: source of optimizer moments to deal out to ranks; NULL: net has them all */
    const ddp_sharded_source *first_moments;
    int update_begins; /* 1: the mini-batch under way is the first of an update */
    struct {
        ddp_work *sum; /* sums `samples` over ranks; NULL: not asked for */
        int started;   /* 1: the sum is under way */
        float samples; /* number of samples that end the run: of this rank; after the sum, of all */
        size_t step;   /* the step whose unreadable samples are summed, from 1 */
        size_t images; /* images that all ranks had seen when the last whole update ended */
    } bad;
    int layer;           /* the layer that computes now, in forward and backward passes */
    int judged, skipped; /* judged: 1: it is decided whether to skip the step; skipped: 1: it is */

    int64_t waited_ns;  /* time waited outside the reducer since attach */
    int64_t stalled_ns; /* ddp_group_stalled_ns when attached */

    ddp_trainer_phase phase; /* the phase under way */
    int64_t phase_ns;        /* when the phase under way began (ddp_clock_ns) */
    int64_t
        phase_communication_ns; /* ddp_trainer_communication_ns when the phase under way began */
    int64_t spent_ns[DDP_TRAINER_PHASES]; /* time spent in ended phases, without communication */
};

/* ---- what every file calls (trainer/trainer_phase.c) ---- */

/* End the program by config.fail(err) if st is an error: a hook cannot return one. */
void ddp_trainer_check(const ddp_trainer *t, ddp_status st, const ddp_error *err);

/* Set the times of all phases to 0, and begin the phase outside of steps; called when attached. */
void ddp_trainer_begin_times(ddp_trainer *t);

/* Return the device that net trains on: the group's GPU, or the host. */
ddp_device *ddp_trainer_device(const ddp_trainer *t, const network *net);

/* End the phase under way, and begin another. Time in communication counts for neither. */
void ddp_trainer_enter_phase(ddp_trainer *t, ddp_trainer_phase phase);

/* Wait until all sums for a GPU have arrived. Call before Darknet waits for that GPU, since Darknet
 * would not notice a lost rank. */
void ddp_trainer_wait_for_sums(ddp_trainer *t);

/* ---- the step (trainer/trainer_hooks.c) ---- */

/* Set net's hooks, so that it calls the trainer; outside of a step. */
void ddp_trainer_hook_network(ddp_trainer *t, network *net);

/* ---- numbers that are not finite (trainer/trainer_nan_guard.c) ---- */

/* Before a forward pass, end the job if a sum that has arrived (all but deferred layers') is not
 * finite. If steps may be skipped, only note whether loss and statistics are finite. */
void ddp_trainer_judge_last_step(ddp_trainer *t);

/* Unless steps may be skipped, end the job if a sum that has arrived is not finite. */
void ddp_trainer_check_arrived(ddp_trainer *t);

/* Set t->update_begins, before a mini-batch's forward pass. If this mini-batch is the first of an
 * update that may be taken back, keep a copy of BatchNorm's statistics. */
void ddp_trainer_keep_statistics(ddp_trainer *t, const ddp_train_position *before);

/* Note that the backward pass of a mini-batch has ended, and whether its loss is finite; set
 * t->judged to 0. */
void ddp_trainer_judge_mini_batch(ddp_trainer *t, const ddp_train_position *now);

/* Return 1 if this step is skipped; call before each layer's update. If steps may be skipped, the
 * first call of a step waits until all of its sums are known (collective). */
int ddp_trainer_is_step_skipped(ddp_trainer *t);

/* ---- what travels with the loss (trainer/trainer_loss.c) ---- */

/* Send with a step's loss how many samples were replaced, and how much of the gradients is left
 * to send. If ranks are to be compared, send a checksum, too. Call before the loss's sum starts.
 */
void ddp_trainer_send_with_loss(ddp_trainer *t, const ddp_train_position *now);

/* Use the counts and checksums that came with the loss. If ranks differ, the program ends. */
void ddp_trainer_receive_with_loss(ddp_trainer *t);

/* ---- algorithms (trainer/trainer_algorithms.c) ---- */

/* Attach the algorithms of config.options to net. First open them, unless they are open and have
 * not been attached to a network. The algorithms may change net and t->table, which is open and not
 * yet read. Fails with DDP_ERR_USAGE (one does not go with this network), DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_trainer_attach_algorithms(ddp_trainer *t, network *net,
                                         ddp_error *err) DDP_MUST_CHECK;

/* Begin the algorithms' work, when all else of the trainer is open. Fails as
 * ddp_algorithm_set_attach. */
ddp_status ddp_trainer_begin_algorithms(ddp_trainer *t, ddp_error *err) DDP_MUST_CHECK;

/* Give all ranks the root's state of the algorithms (collective). Move it to the table's device;
 * ddp_trainer_leave_state, called when the reducer is closed, brings it back to the host. Fails
 * with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_trainer_share_state(const ddp_trainer *t, ddp_error *err) DDP_MUST_CHECK;
void ddp_trainer_leave_state(const ddp_trainer *t);
/* End what ddp_trainer_attach_algorithms began; the algorithms stay open. Call while t->net is set.
 */
void ddp_trainer_detach_algorithms(ddp_trainer *t);
/* Close the algorithms; t->algorithms becomes NULL. */
void ddp_trainer_close_algorithms(ddp_trainer *t);

/* At a step's first mini-batch, choose which layers the step drops. For every mini-batch, tell the
 * BatchNorm statistics which are dropped. Call before each forward pass, after
 * ddp_batchnorm_stats_begin_forward. before: the position before this mini-batch. */
void ddp_trainer_choose_layers(ddp_trainer *t, const ddp_train_position *before);

/* Tell the reducer of the dropped layers, after ddp_reducer_backward_begin. */
void ddp_trainer_drop_layers(ddp_trainer *t);

/* ---- steps whose updates are local (trainer/trainer_steps.c) ---- */

/* Return 1 if step number `step`, from 1, is local: it updates with each rank's own gradients. */
int ddp_trainer_is_local(const ddp_trainer *t, size_t step);

/* End the last backward pass of a local step, before its loss is summed: note whether ranks come
 * into sync after it, and whether own gradients are finite. Does nothing in other steps. */
void ddp_trainer_end_local_backward(ddp_trainer *t, const ddp_train_position *now);

/* Prepare a layer's update with own gradients, in a local step. Returns 0 if the layer is not to be
 * updated. */
int ddp_trainer_update_locally(ddp_trainer *t, int layer_index);

/* Bring ranks into sync, if that is due (collective then). Call after an update, before anybody
 * reads or changes parameters. */
void ddp_trainer_sync_if_due(ddp_trainer *t);

/* ---- updates that are an algorithm's (trainer/trainer_updates.c) ---- */

/* Hand Darknet's update of one array to the algorithm: the hook train_hooks.optimize.
 * a.optimize_ctx is the trainer. */
void ddp_trainer_optimize(int n, float *w, float *g, float *momentum, float *m, float *v,
                          float rate, float decay, update_args a);

/* Note that the algorithm is about to update a layer: the parameters of the layer that other ranks
 * update are received in the next forward pass. Does nothing if Darknet updates. */
void ddp_trainer_expect_updated(ddp_trainer *t, int layer_index);

/* Tell the algorithm, once a step, that all layers have been updated. */
void ddp_trainer_end_updates(ddp_trainer *t);

/* Wait for the parameters of a layer that other ranks have updated, and return 1. If Darknet
 * updates layers, not an algorithm, return 0 at once. */
int ddp_trainer_receive_updated(ddp_trainer *t, int layer_index);

/* ---- samples that cannot be read (trainer/trainer_bad_samples.c) ---- */

/* Start to sum over ranks how many unreadable samples must end the run (ddp_bad_samples_ending).
 * Call before each mini-batch's forward pass, with the position before it. Only the call for a
 * step's first mini-batch starts a sum, and only with config.bad_data. */
void ddp_trainer_sum_bad_samples(ddp_trainer *t, const network *net,
                                 const ddp_train_position *before);

/* End the run by config.unreadable if samples of this step end it. Call before a backward pass, so
 * that nothing of the step has reached a gradient. */
void ddp_trainer_end_at_bad_samples(ddp_trainer *t, network *net);

/* Send with the loss how many of this rank's samples were replaced in this step. Call at the step's
 * end, before the loss's sum starts. Does nothing without config.bad_data. */
void ddp_trainer_send_bad_samples(ddp_trainer *t, const ddp_train_position *now);

/* Wait for the sum of ddp_trainer_sum_bad_samples, if it is under way. */
void ddp_trainer_finish_bad_samples(ddp_trainer *t);

/* ---- BatchNorm over all ranks (trainer/trainer_sync_bn.c) ---- */

/* Have net's BatchNorm use the statistics of all ranks, if config.sync_bn is set and there is more
 * than one rank. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trainer_join_batch_norm(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
