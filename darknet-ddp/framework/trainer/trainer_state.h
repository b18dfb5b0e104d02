/* trainer/trainer_state.h: what the files of the trainer (trainer/trainer*.c) share, and no other
 * code sees. */
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

enum { DDP_TOLD_BAD_SAMPLES, DDP_TOLD_BACKLOG }; /* counts that travel with the loss */

typedef enum ddp_trainer_phase {
    DDP_TRAINER_OUTSIDE,
    DDP_TRAINER_FORWARD,
    DDP_TRAINER_BACKWARD,
    DDP_TRAINER_UPDATE,
    DDP_TRAINER_PHASES
} ddp_trainer_phase;

/* The layers that the step under way has; all zero where every step has all layers. */
struct ddp_trainer_layers {
    const ddp_layers_plug *plug;
    void *self;
    int *block_of;    /* per layer: 0, or its block, counted from 1 */
    char *dropped;    /* per layer */
    float *scale;     /* per layer */
    layer_drops told; /* to Darknet */
};

/* Local steps; all zero where every step sums gradients. */
struct ddp_trainer_steps {
    const ddp_step_plug *plug;
    void *self;
    int is_local;  /* this step is updated with this rank's own gradients */
    double factor; /* that these are multiplied by */
    int sync_due;  /* 1: bring ranks into sync when this step has ended */
};

/* Updates by an algorithm; all zero where updates are Darknet's. */
struct ddp_trainer_updates {
    const ddp_update_plug *plug;
    void *self;
    int end_due; /* layers of this step have been updated */
};

struct ddp_trainer {
    ddp_group *group;
    ddp_trainer_config config;
    ddp_exact_run cut; /* the cfg's numbers that were cut into batch */
    ddp_batch batch;

    network *net; /* NULL: not attached */
    train_hooks hooks;
    ddp_param_table table;
    ddp_reducer *reducer;
    ddp_batchnorm_stats *statistics;
    ddp_sync_batchnorm *moments; /* NULL: each rank's BatchNorm has its own mini-batch */
    joint_statistics joint;
    char *deferred; /* per layer: its update waits for the next forward pass */
    ddp_loss *loss;
    float last_loss; /* given to Darknet last: a sum over a rank's images of a step */
    ddp_nan_guard guard;
    ddp_replica_check *verify;     /* NULL: ranks compare nothing */
    int verifying;                 /* a checksum travels with the loss of this step */
    int backlog_told;              /* the backlog travels with it, too */
    int verify_due;                /* once ranks are alike */
    ddp_algorithm_set *algorithms; /* NULL: not open */
    struct ddp_trainer_layers layers;
    struct ddp_trainer_steps steps;
    struct ddp_trainer_updates updates;
    int root;    /* the rank whose parameters, counters and state all ranks begin with */
    int resumed; /* its optimizer state is to be shared, too */
    const ddp_sharded_source *first_moments; /* on root; NULL: the network has them */
    int update_begins;                       /* 1: with this mini-batch */
    struct {
        ddp_work *sum; /* NULL: nobody ends for them */
        int started;
        float samples; /* in this step: this rank's, then all ranks' */
        size_t step;   /* the one under way */
        size_t images; /* learnt from when the last whole update ended */
    } bad;
    int layer;           /* computing now, in forward and backward */
    int judged, skipped; /* this update, where steps may be skipped */

    int64_t waited_ns;  /* outside the reducer, since attach */
    int64_t stalled_ns; /* the group's count when attached */

    ddp_trainer_phase phase; /* that goes on now */
    int64_t phase_ns;        /* when it began */
    int64_t phase_communication_ns;
    int64_t spent_ns[DDP_TRAINER_PHASES];
};

/* ---- what every file calls (trainer/trainer_phase.c) ---- */

/* End the program with err if st is an error: a hook cannot return one. */
void ddp_trainer_check(const ddp_trainer *t, ddp_status st, const ddp_error *err);

/* Count times from here on, outside of a step; when attached. */
void ddp_trainer_begin_times(ddp_trainer *t);

/* Return what net trains on: the group's device, or the host. */
ddp_device *ddp_trainer_device(const ddp_trainer *t, const network *net);

/* Begin a phase. Communication counts in no phase. */
void ddp_trainer_enter_phase(ddp_trainer *t, ddp_trainer_phase phase);

/* Wait until what a GPU gets from other ranks has come. Call before Darknet waits for that GPU,
 * since it would not notice a lost rank. */
void ddp_trainer_wait_for_sums(ddp_trainer *t);

/* ---- the step (trainer/trainer_hooks.c) ---- */

/* Set net's hooks, so that it calls the trainer; outside of a step. */
void ddp_trainer_hook_network(ddp_trainer *t, network *net);

/* ---- numbers that are not finite (trainer/trainer_nan_guard.c) ---- */

/* Before a forward pass: check the last mini-batch, all of which has come. If it is not finite the
 * job ends here; where steps are skipped, that is only remembered. */
void ddp_trainer_judge_last_step(ddp_trainer *t);

/* Check what has come; if it is not finite the job ends here. Does nothing where steps are skipped.
 */
void ddp_trainer_check_arrived(ddp_trainer *t);

/* Before a mini-batch's forward pass: keep BatchNorm's statistics, if its update begins and may be
 * taken back. */
void ddp_trainer_keep_statistics(ddp_trainer *t, const ddp_train_position *before);

/* Note that the backward pass of a mini-batch has ended. */
void ddp_trainer_judge_mini_batch(ddp_trainer *t, const ddp_train_position *now);

/* Before the update of a layer: return 1 if this step is skipped. Where steps may be, wait first
 * until all of the step is known. */
int ddp_trainer_is_step_skipped(ddp_trainer *t);

/* ---- what travels with the loss (trainer/trainer_loss.c) ---- */

/* Add to a step's loss, before it leaves, how many samples could not be read, and how much of the
 * gradients is left to send. If ranks are to be compared, a checksum of parameters goes along. */
void ddp_trainer_send_with_loss(ddp_trainer *t, const ddp_train_position *now);

/* Use what came with the loss of all ranks. */
void ddp_trainer_receive_with_loss(ddp_trainer *t);

/* ---- algorithms (trainer/trainer_algorithms.c) ---- */

/* Attach the algorithms of config.options, which may have been opened for net: change the table and
 * the network as they want. t->table is open, and nothing that reads it. Fails as
 * ddp_trainer_open_algorithms. */
ddp_status ddp_trainer_attach_algorithms(ddp_trainer *t, network *net,
                                         ddp_error *err) DDP_MUST_CHECK;

/* Begin the algorithms' work, when all of the trainer is open. Fails as ddp_algorithm_set_attach.
 */
ddp_status ddp_trainer_begin_algorithms(ddp_trainer *t, ddp_error *err) DDP_MUST_CHECK;

/* Give ranks the algorithms' state, and use it on the table's device; leave_state brings it back,
 * when the reducer is closed. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_trainer_share_state(const ddp_trainer *t, ddp_error *err) DDP_MUST_CHECK;
void ddp_trainer_leave_state(const ddp_trainer *t);
void ddp_trainer_detach_algorithms(ddp_trainer *t);
void ddp_trainer_close_algorithms(ddp_trainer *t);

/* Choose the layers of a step, before a mini-batch's forward pass and after
 * ddp_batchnorm_stats_begin_forward. */
void ddp_trainer_choose_layers(ddp_trainer *t, const ddp_train_position *before);

/* Tell the reducer of the dropped layers, after ddp_reducer_backward_begin. */
void ddp_trainer_drop_layers(ddp_trainer *t);

/* ---- steps whose updates are local (trainer/trainer_steps.c) ---- */

/* Return 1 if this step, from 1, is local. */
int ddp_trainer_is_local(const ddp_trainer *t, size_t step);

/* End the last backward pass of a local step, before its loss leaves. */
void ddp_trainer_end_local_backward(ddp_trainer *t, const ddp_train_position *now);

/* Prepare the update of a layer in a local step, where others wait for sums. Returns 0 if the layer
 * is not to be updated. */
int ddp_trainer_update_locally(ddp_trainer *t, int layer_index);

/* Bring ranks into sync, if that is due. Call between the update and whatever reads or changes
 * parameters next. */
void ddp_trainer_sync_if_due(ddp_trainer *t);

/* ---- updates that are an algorithm's (trainer/trainer_updates.c) ---- */

/* The hook train_hooks.optimize, which replaces Darknet's update of an array. The trainer is
 * a.optimize_ctx. */
void ddp_trainer_optimize(int n, float *w, float *g, float *momentum, float *m, float *v,
                          float rate, float decay, update_args a);

/* Note that a layer is about to be updated so; what others update of it comes in the next forward
 * pass. Does nothing where updates are Darknet's. */
void ddp_trainer_expect_updated(ddp_trainer *t, int layer_index);

/* Tell the algorithm, once, when all layers of a step have been updated so. */
void ddp_trainer_end_updates(ddp_trainer *t);

/* Wait for what others have updated of a layer. Returns 0 where updates are Darknet's. */
int ddp_trainer_receive_updated(ddp_trainer *t, int layer_index);

/* ---- samples that cannot be read (trainer/trainer_bad_samples.c) ---- */

/* Start to sum over ranks how many samples loaded so far end the run (ddp_bad_samples_ending). Call
 * before each mini-batch's forward pass. It does nothing but for the first of a step, and only if
 * config.bad_data is set. */
void ddp_trainer_sum_bad_samples(ddp_trainer *t, const network *net,
                                 const ddp_train_position *before);

/* Before a backward pass: end the run if there are any. Nothing of this step has reached a
 * gradient. */
void ddp_trainer_end_at_bad_samples(ddp_trainer *t, network *net);

/* Send with the loss how many there were, where others are trained with in their place. */
void ddp_trainer_send_bad_samples(ddp_trainer *t, const ddp_train_position *now);

/* Wait for the sum, if it is on its way. */
void ddp_trainer_finish_bad_samples(ddp_trainer *t);

/* ---- BatchNorm over all ranks (trainer/trainer_sync_bn.c) ---- */

/* Have BatchNorm use the statistics of all ranks, with config.sync_bn and more than one rank. Fails
 * with DDP_ERR_NOMEM. */
ddp_status ddp_trainer_join_batch_norm(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
