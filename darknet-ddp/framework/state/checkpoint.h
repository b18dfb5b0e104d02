/* state/checkpoint.h: resumes a Darknet network from a checkpoint, and describes a checkpoint for a
 * save. A checkpoint is a pair of files: Darknet's weights file, and a state file with all else
 * (checkpoint/pair.h). It is *whole* if both are undamaged, finite and of one save. The functions
 * of state/save.h write a pair straight from the network, those of state/snapshot.h from a copy of
 * it.
 *
 * Only rank 0 resumes and saves. Before a save call ddp_trainer_flush, so that no update is
 * left. With -ddp_shard_optimizer a save asks the other ranks for their moments (run->sharded);
 * they must call ddp_sharded_serve_blocks. After resuming call ddp_trainer_set_resumed, so that
 * ddp_trainer_attach gives the other ranks what rank 0 has loaded. */
#ifndef DDP_STATE_CHECKPOINT_H
#define DDP_STATE_CHECKPOINT_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/find.h"
#include "core/sharded.h"
#include "core/state.h"
#include "device/device.h"
#include "glue/network.h"
#include "glue/param_table.h"
#include "state/saved_moments.h"

/* Facts that a run's checkpoints hold besides the network, and how to save and resume. All pointers
 * are borrowed. */
typedef struct ddp_checkpoint_run {
    ddp_device *device; /* device on which the network trains */
    const char *base;   /* name with which the run's files begin, without folder (ddp_cfg_base) */
    const char *cfg;    /* text of the cfg */
    size_t cfg_bytes;
    uint64_t seed;
    int seed_given; /* 1: the user chose the seed; without `force` a checkpoint with another seed is
                       refused */
    /* 1: -resume_force: resume even if cfg, options, seed or algorithms' arrays differ. Without a
     * whole pair, start as the column `force` of starts.def says: it may load weights alone. */
    int force;
    const char *first_weights; /* the weights file that a new run begins with; NULL: none */
    int shares; /* 1: optimizer moments are dealt out to ranks; resuming leaves them in the file */
    ddp_state *state; /* algorithms' state; gather it (core/state.h) before a save; NULL: none */
    ddp_sharded *sharded; /* gives a save other ranks' moments; NULL: the network has all moments */
    uint64_t list_count;  /* pictures in the training list; 0: not known */
    uint64_t list_hash;   /* hash of the training list; 0: not known */
    uint64_t ranks;       /* number of ranks that train */
    uint64_t saved_at_ns; /* Unix time of the last save (save.h sets it, snapshot.h not); 0: none */
    const ddp_checkpoint_guard *guard; /* called while files are written; NULL: none */

    /* Options that change results: first those that change more than rounding, then those that only
     * change rounding. After resuming, ddp_remember_validation and ddp_remember_unlabelled append
     * facts, which checkpoints keep, but resuming does not compare. */
    size_t option_count;
    ddp_checkpoint_option options[DDP_CHECKPOINT_OPTIONS];
    size_t rounding_count; /* number of options that only change rounding */
    int same_rounding;     /* 1: without `force` a checkpoint with other rounding is refused, too */
    /* is_default[i], for options that change more than rounding: what is done if a state file lacks
     * options[i]. 1: nothing, since the option has its default. 0: the listener is told. The run
     * resumes in both cases. */
    int is_default[DDP_CHECKPOINT_OPTIONS];
    /* before[i], for options that change rounding: the value to assume if a state file lacks
     * options[i]. It always counts as another value than this run's. NULL: this run's value is
     * assumed. */
    const char *before[DDP_CHECKPOINT_OPTIONS];
} ddp_checkpoint_run;

/* The result of ddp_checkpoint_resume: from which files the run goes on. */
typedef struct ddp_resumed {
    char *weights;     /* path of the weights file that the run goes on from; NULL: none */
    int weights_alone; /* 1: no state file was loaded; metadata then has only images and steps */
    ddp_there there;   /* kind of files that were found (checkpoint/find.h) */
    int passed_over;   /* how many pairs, or weights alone, seemed newer, but could not be used */
    ddp_saved_moments *moments; /* moments to deal out, still in the state file; NULL: none */
    /* if the START row says REFUSED: path of the weights that run->force would load, NULL if there
     * are none; else NULL */
    char *refused_weights;
    ddp_checkpoint_metadata metadata;
} ddp_resumed;

/* Set *c to a checkpoint of net, and *table to the table of net's parameters. The weights file
 * beside *c is to have net's first `cutoff` layers. *c points into net and to what *run points to.
 * With run->sharded, arrays of moments that updates change have no data. The caller frees c->arrays
 * and releases the table, also after a failure. Fails with DDP_ERR_FORMAT (a number of this rank is
 * not finite; the text says which), DDP_ERR_USAGE (an updated layer's type is unknown),
 * DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_of_network(ddp_checkpoint *c, ddp_param_table *table, network *net,
                                     int cutoff, const ddp_checkpoint_run *run,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Set *same to 1 if net still has the parameters, BatchNorm statistics, and counts of images and
 * updates of the checkpoint whose metadata is m, else to 0. Call ddp_trainer_flush before. Fails
 * with DDP_ERR_USAGE (an updated layer's type is unknown), DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_matches(const ddp_checkpoint_metadata *m, network *net,
                                  const ddp_checkpoint_run *run, int *same,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Load the newest whole pair of run->base in directory into net, as parsed: parameters, BatchNorm
 * statistics, optimizer state and counters; also run->state. *out is set in any case; the caller
 * releases it. If a whole pair was loaded and run->seed_given is 0, the caller must set the run's
 * seed to out->metadata.seed. The listener is told what ddp_pair_find and ddp_compare_run tell it.
 *
 * Without a whole pair, does what the START row of out->there says (checkpoint/find.h). In most
 * cases net stays as it is, and out->weights is NULL. If the row says to load weights alone, and
 * they are damaged, Darknet ends the program (glue/darknet.h).
 *
 *   DDP_ERR_MISMATCH  cfg, options, seed or algorithms' arrays differ, and run->force is 0
 *   DDP_ERR_USAGE     the network has other parameters, or a layer of an unknown type
 *   DDP_ERR_FORMAT    the weights file did not give back the parameters that were saved,
 *                     or the state file counts more updates than Darknet can
 *   the last two      also if the START row says REFUSED
 *
 * Fails also as ddp_pair_find. After DDP_ERR_MISMATCH, DDP_ERR_USAGE or a refusal net is as it was,
 * but run->state may be loaded in part. */
ddp_status ddp_checkpoint_resume(ddp_resumed *out, network *net, const char *directory,
                                 const ddp_checkpoint_run *run, const ddp_pair_listener *listener,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if ddp_checkpoint_resume would refuse the newest whole pair in
 * directory, because cfg, options or seed differ. Succeeds if no whole pair is found, or if
 * directory cannot be read. Completes an interrupted save, as ddp_pair_find does. Fails also with
 * DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_check_resume(const char *directory, const ddp_checkpoint_run *run,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Free all that *r holds, and make it all zero. *r may be all zero. */
void ddp_resumed_release(ddp_resumed *r);

#endif
