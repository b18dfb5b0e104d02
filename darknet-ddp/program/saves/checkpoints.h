/* saves/checkpoints.h: where a run resumes from, and what it saves (state/checkpoint.h), as the
 * options say. Rank 0 reads, writes and prints sentences; all ranks learn what they must know of
 * it. Calls, in this order:
 *
 *   1. ddp_checkpoints_open, with the network as parsed: owns the name, and resumes
 *   2. ddp_checkpoints_attached, when the trainer is attached to the network
 *   3. ddp_checkpoints_begin: sets an earlier run's files aside
 *   4. ddp_checkpoints_check_list and _labelled, when the list is read
 *   5. ddp_checkpoints_save when Darknet saves, ddp_checkpoints_poll after each step
 *   6. ddp_checkpoints_poll with wait, then ddp_checkpoints_close
 *
 * checkpoint/find.h has the rules of which files win.
 */
#ifndef DDP_SAVES_CHECKPOINTS_H
#define DDP_SAVES_CHECKPOINTS_H

#include "algorithms/set.h"
#include "base/status.h"
#include "comm/group.h"
#include "inputs/data_files.h"
#include "inputs/list.h"
#include "options/options.h"
#include "state/checkpoint.h"
#include "trainer/trainer.h"

#include <stdint.h>

typedef struct ddp_checkpoints ddp_checkpoints;

/* The settings that checkpoints are opened with. What it points to must outlive the
 * ddp_checkpoints. */
typedef struct ddp_checkpoints_config {
    const ddp_options *options;
    ddp_group *group;
    ddp_trainer *trainer; /* the trainer, whose algorithms are open for the network; it is not
                             attached yet */
    const ddp_data_files *inputs; /* files that the run has read */
    const char *directory;        /* folder that the run saves in */
    const char *cfg;              /* path of the cfg, after which the files are named */
    const char *first_weights;    /* the file that the network was loaded from; NULL: none */
    const char *valid;            /* pictures that the run validates on, in words; NULL: none */
} ddp_checkpoints_config;

/* Own the name that the run saves under. With -resume, do what the START row (checkpoint/find.h) of
 * the files there says. If the run goes on, rank 0 loads net, which is as parsed, and the state of
 * the trainer's algorithms from the checkpoint. *seed becomes the seed of that run, on all ranks.
 * Attaching the trainer then gives net and optimizer state to the other ranks. Blocks until every
 * rank is here. *out is set on success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM; on rank 0 also with
 * DDP_ERR_IO, as ddp_run_lock_take, and as ddp_checkpoint_resume, whose DDP_ERR_MISMATCH becomes
 * DDP_ERR_USAGE. */
ddp_status ddp_checkpoints_open(ddp_checkpoints **out, const ddp_checkpoints_config *config,
                                network *net, uint64_t *seed, ddp_error *err) DDP_MUST_CHECK;

/* Wait for saves that are being written, and free c. NULL is allowed. */
void ddp_checkpoints_close(ddp_checkpoints *c);

/* Return 1 on all ranks if the run goes on from a checkpoint. */
int ddp_checkpoints_resumed(const ddp_checkpoints *c);

/* Return 1 on all ranks if the run goes on from a step that was validated, so that the validation's
 * own save, BASE_last.weights, is of that step. */
int ddp_checkpoints_validated(const ddp_checkpoints *c);

/* Return the step since which the run validates on its present pictures; 0: always. Figures of
 * earlier validations cannot be compared. On rank 0. */
size_t ddp_checkpoints_valid_since(const ddp_checkpoints *c);

/* Return how many pairs seemed newer than the one that the run goes on from and were passed over.
 * On rank 0. */
int ddp_checkpoints_passed_over(const ddp_checkpoints *c);

/* Return the step of the checkpoint that the run goes on from, as its state file counts it; 0: the
 * run began anew. (With another batch= the run itself counts other steps.) On rank 0. */
size_t ddp_checkpoints_saved_step(const ddp_checkpoints *c);

/* Free the optimizer's moments that the checkpoint had. Call when the trainer is attached, which
 * has dealt them out to ranks. */
void ddp_checkpoints_attached(ddp_checkpoints *c);

/* Note the training list for later saves, and compare it with that of the checkpoint. DDP_ERR_USAGE
 * on rank 0: it is another list. With -resume_force a line says so instead. */
ddp_status ddp_checkpoints_check_list(ddp_checkpoints *c, ddp_list list,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Give all ranks what rank 0 sees: has[i] is 0 if picture i of the list's n has no label file.
 * Collective. In a run resumed without -resume_force, rank 0 first changes has[] as
 * ddp_recall_unlabelled does. Fails on rank 0 as that function; else with DDP_ERR_COMM, or with
 * DDP_ERR_USAGE if run's options have no room. */
ddp_status ddp_checkpoints_labelled(ddp_checkpoints *c, char *has, size_t n,
                                    ddp_error *err) DDP_MUST_CHECK;

/* Rename a file at path that holds another cfg's weights or is no weights file: Darknet itself is
 * about to save the average of the weights there. Call on rank 0. Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM. */
ddp_status ddp_checkpoints_keep_before_average(const ddp_checkpoints *c, const char *path,
                                               ddp_error *err) DDP_MUST_CHECK;

/* Begin to train net. Call when net is loaded or resumed, and attached, and every rank has read its
 * files. On rank 0, a run that begins anew sets an earlier run's files aside
 * (checkpoint/set_aside.h). A run that goes on gives the final weights of a finished run a second
 * name. If is_finished, nothing is left to train or to save, and only half-written files that a
 * killed run left are removed. Fails with DDP_ERR_IO (also if another run has taken the name over),
 * DDP_ERR_NOMEM. */
ddp_status ddp_checkpoints_begin(ddp_checkpoints *c, const network *net, int is_finished,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Start to save the first `cutoff` layers of net, which is settled, at path (saves/async_writer.h).
 * Collective. Rank 0 writes; the others send it what only they have: errors of compression and
 * their slices of moments. The result comes from ddp_checkpoints_poll. Nothing is written, and a
 * sentence says so, if nothing was trained since ddp_checkpoints_begin and one of these holds: the
 * run began anew; it goes on from path itself; ddp_displaced_is_foreign(path). Fails with
 * DDP_ERR_COMM and DDP_ERR_NOMEM; on rank 0 also with DDP_ERR_FORMAT (a number is not finite),
 * DDP_ERR_IO (another run has taken the name over), and as ddp_checkpoints_poll. Other ranks may
 * return DDP_OK where rank 0 fails. */
ddp_status ddp_checkpoints_save(ddp_checkpoints *c, network *net, const char *path, int cutoff,
                                ddp_error *err) DDP_MUST_CHECK;

/* Take note of saves that have ended. On rank 0, after each step. With wait, wait until nothing is
 * left to write. Fails as ddp_checkpoint_save if a save has failed; with -ddp_on_save_error
 * continue a line says so instead, and ddp_checkpoints_status knows it. NULL is allowed. */
ddp_status ddp_checkpoints_poll(ddp_checkpoints *c, int wait, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if no save is being written or waits to be. On rank 0; c is not NULL. */
int ddp_checkpoints_are_written(const ddp_checkpoints *c);

/* Return the weights file that was saved last, else the one that the run goes on from, else NULL.
 * On other ranks than 0, and if c is NULL: NULL. Valid until the next poll. */
const char *ddp_checkpoints_last(const ddp_checkpoints *c);

/* Return the weights files that this run has saved, *count of them, the last one last; -keep may
 * have removed some. On rank 0. Valid until the next poll. */
char *const *ddp_checkpoints_saved(const ddp_checkpoints *c, size_t *count);

/* Return how many seconds the last save took to be written; 0: there was none. On rank 0. */
double ddp_checkpoints_seconds(const ddp_checkpoints *c);

/* Return 1 if the last save failed, else 0: the exit status so far. NULL is allowed. */
int ddp_checkpoints_status(const ddp_checkpoints *c);

#endif
