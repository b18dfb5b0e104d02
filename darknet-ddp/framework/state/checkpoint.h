/* state/checkpoint.h: resumes a Darknet network from a checkpoint, and describes a checkpoint for a
 * save. A checkpoint is a pair of files: Darknet's weights file, and a state file with all else
 * (checkpoint/pair.h). The functions of state/save.h write a pair straight from the network, those
 * of state/snapshot.h from a copy of it.
 *
 * Call all functions on rank 0 alone. Settle the network before a save (ddp_trainer_flush). If
 * optimizer moments are dealt out to ranks, a save asks the others for them (run->sharded): they
 * must call ddp_sharded_serve_blocks. After resuming, ddp_trainer_attach gives the other ranks what
 * rank 0 has loaded. */
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

/* Facts about the run, which its checkpoints hold besides the network. */
typedef struct ddp_checkpoint_run {
    ddp_device *device; /* device on which the network trains */
    const char *base;   /* name with which the run's files begin, without folder (ddp_cfg_base) */
    const char *cfg;    /* text of the cfg */
    size_t cfg_bytes;
    uint64_t seed;
    int seed_given; /* 1: the user chose the seed; a checkpoint with another seed is refused */
    int force;      /* 1: resume even if cfg, options or seed differ */
    const char *first_weights; /* the weights file that a new run begins with; NULL: none */
    int shares; /* 1: optimizer moments are dealt out to ranks; resuming leaves them in the file */
    ddp_state *state;     /* algorithms' state, to save and resume; NULL: none */
    ddp_sharded *sharded; /* gives a save other ranks' moments; NULL: the network has all moments */
    uint64_t list_count;  /* pictures in the training list; 0: not known */
    uint64_t list_hash;   /* hash of the training list; 0: not known */
    uint64_t ranks;       /* number of ranks that train */
    uint64_t saved_at_ns; /* Unix time of the last checkpoint; each save sets it; 0 at first */
    const ddp_checkpoint_guard *guard; /* called while files are written; NULL: none */

    /* Options that change results: first those that change more than rounding, then those that only
     * change rounding. (ddp_remember_validation and ddp_remember_unlabelled add others behind.) */
    size_t option_count;
    ddp_checkpoint_option options[DDP_CHECKPOINT_OPTIONS];
    size_t rounding_count; /* number of options that only change rounding */
    int same_rounding;     /* 1: a checkpoint with other rounding is refused, too */
    /* is_default[i]: 1: options[i] has its default, so that a state file without the option has an
     * equal value. 0: a state file without it is resumed, and the listener is told. Only for
     * options that change more than rounding. */
    int is_default[DDP_CHECKPOINT_OPTIONS];
    /* before[i]: value of options[i] in state files without the option; NULL: an equal value. Only
     * for options that change rounding. */
    const char *before[DDP_CHECKPOINT_OPTIONS];
} ddp_checkpoint_run;

/* The result of ddp_checkpoint_resume: from which files the run goes on. */
typedef struct ddp_resumed {
    char *weights;     /* path of the weights file that was loaded; NULL: the run begins anew */
    int weights_alone; /* 1: no state file was loaded; metadata then has only images and steps */
    ddp_there there;   /* kind of files that were found (checkpoint/find.h) */
    int passed_over;   /* pairs, and weights without state, that seemed newer and are not usable */
    ddp_saved_moments *moments; /* moments, still in the state file; NULL if run->shares is 0 */
    char
        *refused_weights; /* if resuming was refused: weights that run->force would load; or NULL */
    ddp_checkpoint_metadata metadata;
} ddp_resumed;

/* Set *c to a checkpoint of net's first `cutoff` layers, whose arrays point into net, and *table to
 * the table of net's parameters. Arrays of run->sharded have no data. The caller frees c->arrays
 * and releases the table, in any case. Fails with DDP_ERR_FORMAT (a number of this rank is not
 * finite; the text says which), DDP_ERR_USAGE (an updated layer's type is unknown),
 * DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_of_network(ddp_checkpoint *c, ddp_param_table *table, network *net,
                                     int cutoff, const ddp_checkpoint_run *run,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Set *same to 1 if net still has the parameters and the counts of images and updates of the
 * checkpoint whose metadata is m, else to 0. Fails with DDP_ERR_USAGE (an updated layer's type is
 * unknown), DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_matches(const ddp_checkpoint_metadata *m, network *net,
                                  const ddp_checkpoint_run *run, int *same,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Load net, as parsed, from the newest whole pair of run->base in directory: parameters, BatchNorm
 * statistics, optimizer state and counters. Sets *out, which the caller releases in any case. The
 * caller must set the run's seed to that of out->metadata. Without a whole pair, does what the
 * START row says (checkpoint/find.h): in most cases it leaves net as it is, with out->weights NULL.
 * The listener hears of pairs that are passed over, of other rounding and, with run->force, of all
 * differences.
 *
 * DDP_ERR_MISMATCH: cfg, options, seed or algorithms' arrays differ, and run->force is 0.
 * DDP_ERR_USAGE: the network has other parameters. In both cases net is as it was. DDP_ERR_FORMAT:
 * the weights file did not give back the parameters that were saved, or the START row says REFUSED.
 * Fails also as ddp_pair_find. If weights that are loaded alone are damaged, Darknet ends the
 * program (glue/darknet.h). */
ddp_status ddp_checkpoint_resume(ddp_resumed *out, network *net, const char *directory,
                                 const ddp_checkpoint_run *run, const ddp_pair_listener *listener,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if ddp_checkpoint_resume would refuse the newest whole pair in
 * directory, because cfg, options or seed differ. Succeeds without a whole pair. Fails also with
 * DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_check_resume(const char *directory, const ddp_checkpoint_run *run,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Free all that *r holds, and make it all zero. *r may be all zero. */
void ddp_resumed_release(ddp_resumed *r);

#endif
