/* state/checkpoint.h: describes a checkpoint of a Darknet network, and loads a network from a pair
 * of files (checkpoint/pair.h). A pair is written straight from the network by state/save.h, from a
 * copy by state/snapshot.h.
 *
 * Call everything here on rank 0 alone. Nothing communicates, except a save that asks run->sharded
 * for moments: the other ranks then call ddp_sharded_serve_blocks. Settle the network before a
 * save. After resuming, the trainer's attach gives the other ranks what rank 0 has. */
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

/* The part of a checkpoint that the network does not know. */
typedef struct ddp_checkpoint_run {
    ddp_device *device; /* device on which the network trains */
    const char *base;   /* name with which the run's files begin, without folder (ddp_cfg_base) */
    const char *cfg;    /* the text of the cfg as it was read for this run */
    size_t cfg_bytes;
    uint64_t seed;
    int seed_given; /* 1: the user chose the seed, and resuming with another is refused */
    int force;      /* 1: resume even if cfg, options or seed differ */
    const char *first_weights; /* the weights file that a new run begins with; NULL: none */
    int shares; /* 1: optimizer moments are dealt out to ranks; resuming leaves them in the file */
    ddp_state *state; /* algorithms' state, saved and resumed beside the network's; NULL: none */
    ddp_sharded
        *sharded; /* gives other ranks' moments to a save; NULL: the network has all moments */
    uint64_t list_count,
        list_hash;        /* number of pictures, and hash, of the training list; 0: not known */
    uint64_t ranks;       /* how many ranks train */
    uint64_t saved_at_ns; /* Unix time of the last checkpoint; each save sets it; 0 at first */
    const ddp_checkpoint_guard
        *guard; /* called while a save is written (checkpoint/checkpoint.h); NULL: none */
    size_t option_count;
    ddp_checkpoint_option options[DDP_CHECKPOINT_OPTIONS]; /* options that change results */
    /* is_default[i]: 1 if options[i] has its default, so that a state file without it counts as
     * equal. 0: such a file is resumed, too, and the listener is told that the option was not
     * known. Unused for options of rounding, which have before[i]. */
    int is_default[DDP_CHECKPOINT_OPTIONS];
    /* number of options that only change rounding: the last ones in options[], until
     * ddp_remember_validation or ddp_remember_unlabelled adds others */
    size_t rounding_count;
    int same_rounding; /* 1: resuming with other rounding is refused, too */
    /* before[i]: if options[i] changes rounding, its value in state files without it; NULL: such
     * files count as equal */
    const char *before[DDP_CHECKPOINT_OPTIONS];
} ddp_checkpoint_run;

/* The start of a run: which files ddp_checkpoint_resume has resumed it from. */
typedef struct ddp_resumed {
    char *weights;   /* path of the weights that the run goes on from; NULL: it begins anew */
    int alone;       /* 1: only the weights were taken; metadata then has only images and steps */
    ddp_there there; /* which files were there (checkpoint/find.h) */
    int passed_over; /* how many pairs, or weights alone, seemed newer and could not be used */
    /* moments of the loaded pair, still in its file, if run->shares is 1; else NULL */
    ddp_saved_moments *moments;
    /* after DDP_START_REFUSED: path of weights that run->force 1 would take alone; else NULL */
    char *damaged;
    ddp_checkpoint_metadata metadata;
} ddp_resumed;

/* Describe in *c a checkpoint of net's first `cutoff` layers. Its arrays lie in the network, as
 * *table says; those that run->sharded gives have no data. In any case the caller frees c->arrays
 * and releases the table. Fails with DDP_ERR_FORMAT (a number of this rank is not finite; the text
 * says which), DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_of_network(ddp_checkpoint *c, ddp_param_table *table, network *net,
                                     int cutoff, const ddp_checkpoint_run *run,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Set *same to 1 if a checkpoint of net would have the images, net->t and parameters that m says,
 * else to 0. Fails with DDP_ERR_USAGE (a layer of an unknown type is updated), DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_is_of(const ddp_checkpoint_metadata *m, network *net,
                                const ddp_checkpoint_run *run, int *same,
                                ddp_error *err) DDP_MUST_CHECK;

/* Give net the parameters, statistics, optimizer state and counters of the newest whole pair of
 * run->base in directory; *out tells which pair, and its metadata. Without a pair net stays, and
 * out->weights is NULL, unless the START row (checkpoint/find.h) says otherwise. Setting the seed
 * that the metadata have is left to the caller. Pass net as parsed. The listener hears of pairs
 * that were passed over, of other rounding and, with run->force, of all differences.
 * DDP_ERR_MISMATCH: cfg, options, seed or algorithms' arrays differ and run->force is 0.
 * DDP_ERR_USAGE: the network has other parameters. In both cases net is as it was. DDP_ERR_FORMAT:
 * the weights file did not give back the parameters that were saved, or the START row says REFUSED.
 * Weights that are taken alone and cannot be loaded end the program (glue/darknet.h). Fails also as
 * ddp_pair_find. Release *out in any case. */
ddp_status ddp_checkpoint_resume(ddp_resumed *out, network *net, const char *directory,
                                 const ddp_checkpoint_run *run, const ddp_pair_listener *listener,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if ddp_checkpoint_resume would refuse the newest whole pair in
 * directory for its cfg, options or seed. Passes if there is no whole pair. Prints nothing. Fails
 * also with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_check_resume(const char *directory, const ddp_checkpoint_run *run,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Free what *r holds. All zero is allowed. */
void ddp_resumed_release(ddp_resumed *r);

#endif
