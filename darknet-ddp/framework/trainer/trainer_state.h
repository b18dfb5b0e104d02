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

/* Of the network that is attached; all zero where every step has all layers. Arrays per layer are
 * what the step under way has. */
struct ddp_trainer_layers {
    const ddp_layers_plug *plug;
    void *self;
    int *block_of;    /* per layer: 0, or its block, counted from 1 */
    char *dropped;    /* per layer */
    float *scale;     /* per layer */
    layer_drops told; /* to Darknet */
};

/* The same; all zero where every step sums gradients. */
struct ddp_trainer_steps {
    const ddp_step_plug *plug;
    void *self;
    int is_local;  /* this step is updated with this rank's gradients, */
    double factor; /* times that */
    int sync_due;  /* when it has ended */
};

/* The same; all zero where updates are Darknet's. */
struct ddp_trainer_updates {
    const ddp_update_plug *plug;
    void *self;
    int end_due; /* layers of this step have been updated */
};

struct ddp_trainer {
    ddp_group *group;
    ddp_trainer_config config;
    ddp_exact_run cut; /* what was cut into batch */
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
    float last_loss; /* as Darknet was last told it, a sum over a rank's images of a step */
    ddp_nan_guard guard;
    ddp_replica_check *verify;     /* NULL: ranks compare nothing */
    int verifying;                 /* with the loss of this step */
    int backlog_told;              /* with it, too */
    int verify_due;                /* once ranks are alike */
    ddp_algorithm_set *algorithms; /* NULL: not open */
    struct ddp_trainer_layers layers;
    struct ddp_trainer_steps steps;
    struct ddp_trainer_updates updates;
    int root;    /* the rank whose parameters, counters and state all ranks begin with */
    int resumed; /* its optimizer state is to be shared, too */
    const ddp_sharded_source *first_moments; /* on root; NULL: the network has them */
    int update_begins;                       /* with this mini-batch */
    struct {
        ddp_work *sum; /* NULL: nobody ends for them */
        int started;
        float samples; /* of this step: this rank's, then all ranks' */
        size_t step;   /* the one under way */
        size_t images; /* that the last whole update had learnt from */
    } bad;
    int layer;           /* that computes, in forward and backward */
    int judged, skipped; /* this update: where updates may be dropped */

    int64_t waited_ns;  /* outside the reducer, since attach */
    int64_t stalled_ns; /* by the group's count, when attached */

    ddp_trainer_phase phase; /* what goes on now */
    int64_t phase_ns;        /* began then, */
    int64_t phase_communication_ns;
    int64_t spent_ns[DDP_TRAINER_PHASES];
};

/* ---- what every file calls (trainer/trainer_phase.c) ---- */

/* A hook cannot return an error: where st is one, the program ends with err. */
void ddp_trainer_check(const ddp_trainer *t, ddp_status st, const ddp_error *err);

/* Attached: times count from here on, outside of a step. */
void ddp_trainer_begin_times(ddp_trainer *t);

/* What net trains on: the group's device, or the host. */
ddp_device *ddp_trainer_device(const ddp_trainer *t, const network *net);

/* What goes on from here. Communication is nobody's time but its own. */
void ddp_trainer_enter_phase(ddp_trainer *t, ddp_trainer_phase phase);

/* What waits on a GPU for other ranks has come: before Darknet waits for that GPU, for it would not
 * notice that one is lost. */
void ddp_trainer_wait_for_sums(ddp_trainer *t);

/* ---- the step (trainer/trainer_hooks.c) ---- */

/* From here on net calls the trainer, which is outside of a step. */
void ddp_trainer_hook_network(ddp_trainer *t, network *net);

/* ---- numbers that are not finite (trainer/trainer_nan_guard.c) ---- */

/* Before a forward pass: all of the last mini-batch has come. It must be finite, or the job ends
 * here; where steps are dropped, remember that it is not. */
void ddp_trainer_judge_last_step(ddp_trainer *t);

/* Something has come: it must be finite, or the job ends here. Where steps are dropped nothing is
 * looked at. */
void ddp_trainer_check_arrived(ddp_trainer *t);

/* Before a mini-batch's forward pass, where its update may be taken back: keep what BatchNorm's
 * statistics were when it began. */
void ddp_trainer_keep_statistics(ddp_trainer *t, const ddp_train_position *before);

/* The backward pass of a mini-batch has ended. */
void ddp_trainer_judge_mini_batch(ddp_trainer *t, const ddp_train_position *now);

/* Before the update of a layer: is this update dropped? Where updates may be, none of it is used
 * before all of it is known. */
int ddp_trainer_is_step_skipped(ddp_trainer *t);

/* ---- what travels with the loss (trainer/trainer_loss.c) ---- */

/* The loss of a step is about to leave: with it go what this rank's parameters are, if ranks are to
 * be compared, how many samples could not be read, and how much of the gradients is left to send.
 */
void ddp_trainer_send_with_loss(ddp_trainer *t, const ddp_train_position *now);

/* The loss has come, and with it that of all ranks. */
void ddp_trainer_receive_with_loss(ddp_trainer *t);

/* ---- algorithms (trainer/trainer_algorithms.c) ---- */

/* With those of config.options, which may have been opened for net: what they change of the table
 * and the network. t->table is open, and nothing that reads it. Fails as
 * ddp_trainer_open_algorithms. */
ddp_status ddp_trainer_attach_algorithms(ddp_trainer *t, network *net,
                                         ddp_error *err) DDP_MUST_CHECK;

/* All of the trainer is open: they go to work. Fails as ddp_algorithm_set_attach. */
ddp_status ddp_trainer_begin_algorithms(ddp_trainer *t, ddp_error *err) DDP_MUST_CHECK;

/* Ranks get what they have of the algorithms' state, which from here on is used on the table's
 * device; and no more, when the reducer is closed. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_trainer_share_state(const ddp_trainer *t, ddp_error *err) DDP_MUST_CHECK;
void ddp_trainer_leave_state(const ddp_trainer *t);
void ddp_trainer_detach_algorithms(ddp_trainer *t);
void ddp_trainer_close_algorithms(ddp_trainer *t);

/* Before a mini-batch's forward pass, after ddp_batchnorm_stats_begin_forward: which layers its
 * step has.
 */
void ddp_trainer_choose_layers(ddp_trainer *t, const ddp_train_position *before);

/* The reducer's backward pass has begun: it learns of that. */
void ddp_trainer_drop_layers(ddp_trainer *t);

/* ---- steps whose updates are local (trainer/trainer_steps.c) ---- */

/* Is this step, from 1, one? */
int ddp_trainer_is_local(const ddp_trainer *t, size_t step);

/* The last backward pass of a step has ended, and its loss has not left. */
void ddp_trainer_end_local_backward(ddp_trainer *t, const ddp_train_position *now);

/* In place of waiting for sums, before the update of a layer in such a step. Returns 0 if it is not
 * to be updated. */
int ddp_trainer_update_locally(ddp_trainer *t, int layer_index);

/* Where ranks are to be in sync from here on, bring them. They come here between the update and
 * whatever reads or changes parameters next. */
void ddp_trainer_sync_if_due(ddp_trainer *t);

/* ---- updates that are an algorithm's (trainer/trainer_updates.c) ---- */

/* Of train_hooks.optimize: in place of Darknet's update of an array; the trainer is a.optimize_ctx.
 */
void ddp_trainer_optimize(int n, float *w, float *g, float *momentum, float *m, float *v,
                          float rate, float decay, update_args a);

/* A layer is about to be updated so: what others update of it is there in the next forward pass.
 * Nothing happens where the update is Darknet's. */
void ddp_trainer_expect_updated(ddp_trainer *t, int layer_index);

/* Where all layers of a step have been updated so: the algorithm learns of it, once. */
void ddp_trainer_end_updates(ddp_trainer *t);

/* Wait for what others have updated of a layer. Returns 0 where the update is Darknet's. */
int ddp_trainer_receive_updated(ddp_trainer *t, int layer_index);

/* ---- samples that cannot be read (trainer/trainer_bad_samples.c) ---- */

/* Before a mini-batch's forward pass: with the first of a step its count leaves, where the run ends
 * for such samples. */
void ddp_trainer_sum_bad_samples(ddp_trainer *t, const network *net,
                                 const ddp_train_position *before);

/* Before a backward pass: end for them. Nothing of this step has reached a gradient. */
void ddp_trainer_end_at_bad_samples(ddp_trainer *t, network *net);

/* Where others are trained with in their place: how many there were goes with the loss. */
void ddp_trainer_send_bad_samples(ddp_trainer *t, const ddp_train_position *now);

/* Wait for the sum, where it is on its way. */
void ddp_trainer_finish_bad_samples(ddp_trainer *t);

/* ---- BatchNorm over all ranks (trainer/trainer_sync_bn.c) ---- */

/* With config.sync_bn, and more than one rank: BatchNorm asks for the statistics of all ranks.
 * Fails with DDP_ERR_NOMEM. */
ddp_status ddp_trainer_join_batch_norm(ddp_trainer *t, network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
