/* trainer/trainer_state.h: the struct of a trainer, and the functions that several of its files
 * (trainer/trainer*.c) use. Only those files include it.
 *
 * Arguments: `before` is the position of the network (ddp_train_position_of) before a mini-batch's
 * forward pass, `now` its position when the function is called. A function without ddp_error that
 * fails ends the program by config.fail. */
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

/* Counts of a rank that are summed over ranks with the loss (ddp_loss_send_count). */
enum {
    DDP_COUNT_REPLACED, /* unreadable samples of a step that were replaced by others */
    DDP_COUNT_BACKLOG   /* blocks of 1024 gradient elements that backward's end leaves unsent */
};

typedef enum ddp_trainer_phase {
    DDP_TRAINER_OUTSIDE, /* between steps, and between mini-batches */
    DDP_TRAINER_FORWARD,
    DDP_TRAINER_BACKWARD,
    DDP_TRAINER_UPDATE,
    DDP_TRAINER_PHASES /* number of phases */
} ddp_trainer_phase;

/* Whether a step's update is skipped, because a number of the step is not finite. */
typedef enum ddp_step_verdict {
    DDP_STEP_NOT_JUDGED, /* not decided yet; always this if steps may not be skipped */
    DDP_STEP_UPDATES,
    DDP_STEP_SKIPPED
} ddp_step_verdict;

/* Layers that an algorithm drops from steps; all zero without such an algorithm. */
struct ddp_trainer_layers {
    const ddp_layers_plug *plug;
    void *self;    /* first argument of the functions of `plug` */
    int *block_of; /* per layer: the number of its residual block, from 1; 0: none */
    char *dropped; /* per layer: 1 if the step under way drops it, else 0 */
    /* per layer: at a block's [shortcut] the factor of the block's output in this step, else 1 */
    float *scale;
    layer_drops drops; /* `dropped` and `scale`, as Darknet's passes read them */
};

/* Local steps: each rank updates with its own gradients. All zero if every step sums gradients. */
struct ddp_trainer_steps {
    const ddp_step_plug *plug;
    void *self;    /* first argument of the functions of `plug` */
    int is_local;  /* 1: the mini-batch under way ends a local step */
    double factor; /* factor of this rank's own gradients in this step */
    int sync_due;  /* 1: bring ranks into sync when this step has ended */
};

/* Updates by an algorithm; all zero if Darknet updates. */
struct ddp_trainer_updates {
    const ddp_update_plug *plug;
    void *self;  /* first argument of the functions of `plug` */
    int end_due; /* 1: layers were updated, and plug->end_updates is still to be called */
};

struct ddp_trainer {
    ddp_group *group;
    ddp_trainer_config config;
    ddp_exact_run split; /* arguments of the last ddp_trainer_split that succeeded */
    ddp_batch batch;     /* result of the last ddp_trainer_split; of no use if it failed */

    network *net; /* the attached network; NULL: none */
    train_hooks hooks;
    ddp_param_table table;
    ddp_reducer *reducer;
    ddp_batchnorm_stats *statistics;
    ddp_sync_batchnorm *sync_batchnorm; /* NULL: ranks normalize with their own statistics */
    joint_statistics joint; /* *net->statistics, by which Darknet calls sync_batchnorm */
    /* deferred[i]: 1: layer i is updated, or its parameters arrive, in the next forward pass */
    char *deferred;
    ddp_loss *loss;
    /* loss that Darknet last got: a rank's sum over its images, averaged over ranks */
    float last_loss;
    ddp_nan_guard guard;
    ddp_replica_check *replica_check; /* compares ranks' parameters; NULL: nothing does */
    int comparison_due; /* 1: the next step with ranks in sync compares their parameters */
    int checksum_sent;  /* 1: a checksum of parameters travels with this step's loss */
    int backlog_sent;   /* 1: the sum of this step's loss also sums DDP_COUNT_BACKLOG */
    ddp_algorithm_set *algorithms; /* the run's algorithms; NULL: none are open */
    struct ddp_trainer_layers layers;
    struct ddp_trainer_steps steps;
    struct ddp_trainer_updates updates;
    int root; /* the rank whose parameters, counters and state all ranks begin with */
    /* 1: the run was resumed, so the next ddp_trainer_attach also gives all ranks the optimizer's
     * state of `root`, and sets this to 0 */
    int resumed;
    /* on rank `root`: where the optimizer's moments are read from, to be dealt out to ranks; NULL:
     * net has all of them */
    const ddp_sharded_source *saved_moments;
    int update_begins; /* 1: the mini-batch under way is the first of an update */
    struct {           /* unreadable samples that end the run */
        ddp_work *sum; /* sums `samples` over ranks; NULL: config.bad_data is NULL */
        int started;   /* 1: `sum` is under way */
        /* number of unreadable samples that must end the run: of this rank; once `sum` has ended,
         * of all ranks */
        float samples;
        size_t step;             /* step, from 1, to which `samples` belongs */
        size_t images_at_update; /* net->seen when the last whole update ended */
    } bad;
    int layer; /* the layer that computes now, in forward and backward passes */
    ddp_step_verdict verdict;

    int64_t waited_ns;            /* time waited outside the reducer since attach */
    int64_t stalled_at_attach_ns; /* ddp_group_stalled_ns at attach */

    ddp_trainer_phase phase;              /* the phase under way */
    int64_t phase_began_ns;               /* when the phase under way began (ddp_clock_ns) */
    int64_t phase_communication_ns;       /* ddp_trainer_communication_ns at phase_began_ns */
    int64_t spent_ns[DDP_TRAINER_PHASES]; /* time spent in ended phases, without communication */
};

/* ---- functions that every file calls (trainer/trainer_phase.c) ---- */

/* End the program by config.fail(err) if st is an error: a hook cannot return one. */
void ddp_trainer_check(const ddp_trainer *t, ddp_status st, const ddp_error *err);

/* Set the times of all phases to 0, and begin DDP_TRAINER_OUTSIDE. Call at attach. */
void ddp_trainer_begin_times(ddp_trainer *t);

/* Return the device that net trains on: the group's GPU, or the host. */
ddp_device *ddp_trainer_device(const ddp_trainer *t, const network *net);

/* End the phase under way, and begin another. Time in communication counts for neither. */
void ddp_trainer_enter_phase(ddp_trainer *t, ddp_trainer_phase phase);

/* Wait until all fenced sums for a GPU have arrived. Call before Darknet waits for that GPU, since
 * Darknet would not notice a lost rank. */
void ddp_trainer_wait_for_sums(ddp_trainer *t);

/* ---- the step (trainer/trainer_hooks.c) ---- */

/* Fill t->hooks, and point net->hooks to it. Call after ddp_trainer_attach_algorithms. */
void ddp_trainer_hook_network(ddp_trainer *t, network *net);

/* ---- numbers that are not finite (trainer/trainer_nan_guard.c) ---- */

/* End the job if a sum that has arrived is not finite. Does nothing if steps may be skipped. */
void ddp_trainer_check_arrived(ddp_trainer *t);

/* Set t->update_begins: 1 if the mini-batch is the first of an update, else 0. At the first, keep a
 * copy of BatchNorm's statistics if the update may be skipped, or ended by unreadable samples. Call
 * before each forward pass, after ddp_batchnorm_stats_begin_forward. before: position then. */
void ddp_trainer_keep_statistics(ddp_trainer *t, const ddp_train_position *before);

/* Note whether the mini-batch's loss is finite, and set t->verdict to DDP_STEP_NOT_JUDGED. Call
 * after each backward pass. */
void ddp_trainer_end_mini_batch(ddp_trainer *t, const ddp_train_position *now);

/* Return 1 if this step is skipped; call before each layer's update. If steps may be skipped, the
 * first call of a step waits until all of its sums have arrived (collective). */
int ddp_trainer_is_step_skipped(ddp_trainer *t);

/* ---- numbers that travel with the loss (trainer/trainer_loss.c) ---- */

/* Hand t->loss the counts that travel with its sum, such as that of replaced samples.
 * If ranks are to be compared, also hand it a checksum of the parameters. Call before the sum
 * starts. */
void ddp_trainer_send_with_loss(ddp_trainer *t, const ddp_train_position *now);

/* Compare the checksums that came with the loss, and end the program if parameters differ between
 * ranks. With config.reducer.priority, plan the order of the next sums by the backlogs that came.
 * Does nothing if neither was sent since the last call. Call when the loss has arrived. */
void ddp_trainer_receive_with_loss(ddp_trainer *t);

/* ---- algorithms (trainer/trainer_algorithms.c), in the order of calls ---- */

/* Prepare the algorithms of config.options for net. Opens them, unless ddp_trainer_open_algorithms
 * was called since the last attachment. Changes net, t->table and config.reducer as the algorithms
 * need; nothing else may use t->table yet. Fails with DDP_ERR_USAGE (an algorithm does not go with
 * this network), DDP_ERR_NOMEM. */
ddp_status ddp_trainer_prepare_algorithms(ddp_trainer *t, network *net,
                                          ddp_error *err) DDP_MUST_CHECK;

/* Give all ranks the algorithms' state of rank t->root (ddp_state_share, collective), and have the
 * device of t->table use it. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_trainer_share_state(const ddp_trainer *t, ddp_error *err) DDP_MUST_CHECK;

/* Attach the algorithms to the reducer and the table, which must be open; do nothing without
 * algorithms. Fails as ddp_algorithm_set_attach. */
ddp_status ddp_trainer_attach_algorithms(ddp_trainer *t, ddp_error *err) DDP_MUST_CHECK;

/* Detach the algorithms from t->net, which is still set, and set net->drops to NULL. The algorithms
 * stay open. */
void ddp_trainer_detach_algorithms(ddp_trainer *t);

/* Move the algorithms' state back to the host. Call when the reducer is closed. */
void ddp_trainer_leave_state(const ddp_trainer *t);

/* Close the algorithms; t->algorithms becomes NULL. */
void ddp_trainer_close_algorithms(ddp_trainer *t);

/* If an algorithm drops layers, choose at a step's first mini-batch which layers the step drops,
 * and tell the BatchNorm statistics at every mini-batch. Else do nothing. Call before each forward
 * pass, after ddp_batchnorm_stats_begin_forward. */
void ddp_trainer_choose_layers(ddp_trainer *t, const ddp_train_position *before);

/* Tell the reducer of the dropped layers, after ddp_reducer_backward_begin. */
void ddp_trainer_drop_layers(ddp_trainer *t);

/* ---- local steps (trainer/trainer_steps.c) ---- */

/* Return 1 if step number `step`, from 1, is local: each rank updates with its own gradients. */
int ddp_trainer_is_local(const ddp_trainer *t, size_t step);

/* End the backward passes of a local step; do nothing in another step. Call before the step's loss
 * is summed. Notes for ddp_trainer_sync_if_due whether ranks must come into sync after the step. If
 * steps may be skipped and this rank's gradients are not finite, makes the rank's loss NaN, so that
 * all ranks skip the step. */
void ddp_trainer_end_local_backward(ddp_trainer *t, const ddp_train_position *now);

/* Prepare a layer's update with this rank's own gradients, in a local step. Call for the last layer
 * first. Returns 0 if the layer is not to be updated (ddp_reducer_use_own_gradients), else 1. */
int ddp_trainer_update_locally(ddp_trainer *t, int layer_index);

/* Bring ranks into sync if a local step has made that due (collective then). Call after an update,
 * before anybody reads or changes parameters. */
void ddp_trainer_sync_if_due(ddp_trainer *t);

/* ---- updates by an algorithm (trainer/trainer_updates.c) ---- */

/* Pass Darknet's update of one array to the algorithm. Serves as train_hooks.optimize;
 * a.optimize_ctx is the trainer. */
void ddp_trainer_optimize(int n, float *w, float *g, float *momentum, float *m, float *v,
                          float rate, float decay, update_args a);

/* Call when the algorithm is about to update a layer. Then ddp_trainer_end_updates has work, and
 * the layer's next forward pass first receives the parameters that other ranks update. Does nothing
 * if no algorithm updates layers: then Darknet does. */
void ddp_trainer_expect_updated(ddp_trainer *t, int layer_index);

/* Tell the algorithm that all layers of a step are updated. Does nothing if Darknet updates them,
 * or if no layer was updated since the last call. */
void ddp_trainer_end_updates(ddp_trainer *t);

/* Wait for the parameters of a layer that other ranks have updated, and return 1. Call once for
 * each layer, after ddp_trainer_end_updates. If Darknet updates layers, return 0 at once. */
int ddp_trainer_receive_updated(ddp_trainer *t, int layer_index);

/* ---- samples that cannot be read (trainer/trainer_bad_samples.c) ---- */

/* Start to sum over ranks how many unreadable samples of a step must end the run
 * (ddp_bad_samples_count_ending). Call before each forward pass. Does nothing without
 * config.bad_data, or if the mini-batch is not the first of its step. */
void ddp_trainer_sum_bad_samples(ddp_trainer *t, const network *net,
                                 const ddp_train_position *before);

/* Wait for the sum of ddp_trainer_sum_bad_samples, if it is under way. */
void ddp_trainer_finish_bad_samples(ddp_trainer *t);

/* Wait for the sum of ddp_trainer_sum_bad_samples and, if it is not 0, end the run by
 * config.unreadable. Call before each backward pass, so that nothing of the step has reached a
 * gradient. */
void ddp_trainer_end_at_bad_samples(ddp_trainer *t, network *net);

/* Send with the loss how many of this rank's samples were replaced in this step. Call at the step's
 * end, before the loss's sum starts. Does nothing without config.bad_data. */
void ddp_trainer_send_bad_samples(ddp_trainer *t, const ddp_train_position *now);

/* ---- BatchNorm over all ranks (trainer/trainer_sync_bn.c) ---- */

/* Have net's BatchNorm use the statistics of all ranks, if config.sync_bn is set and there is more
 * than one rank. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trainer_join_batch_norm(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
