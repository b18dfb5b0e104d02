/* trainer/plugin.h: answers what Darknet's train commands ask (train_plugin in darknet.h). They ask
 * which line of a list a sample is, what is drawn for it, how the batch is cut, and when to save.
 *
 * At most one is open in a process, because Darknet calls back without context. Whatever fails ends
 * the program by config.fail.
 */
#ifndef DDP_TRAINER_PLUGIN_H
#define DDP_TRAINER_PLUGIN_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"
#include "glue/train_position.h"
#include "trainer/head_sums.h"
#include "trainer/trainer.h"
#include "watch/watch.h"

#include <stdint.h>

/* Figures of the last step, of all ranks. */
typedef struct ddp_figures {
    double loss, average_loss;         /* for one image, as Darknet prints them */
    double rate;                       /* learning rate */
    ddp_head_figures heads[DDP_HEADS]; /* ddp_network_heads, this rank's */
} ddp_figures;

/* Each is called on every rank. An error ends the program. */
typedef struct ddp_plugin_callbacks {
    /* A network was parsed from cfg, whose weights will be saved in directory: go on from a
     * checkpoint, or leave net as it is. *seed, of the run, may become the checkpoint's. On rank
     * 0 net may change; the others get what rank 0 has. cfg is a path. */
    ddp_status (*resume)(network *net, const char *directory, const char *cfg, uint64_t *seed,
                         ddp_error *err);
    /* The trainer is attached to that network, and its first step comes next. */
    ddp_status (*attached)(network *net, const ddp_train_position *now, const char *cfg,
                           ddp_error *err);
    /* The run's `what`, "labels", "tree" or "map", is read from this file. Comes before resume. */
    ddp_status (*reads)(const char *what, const char *path, ddp_error *err);
    /* Check the training list, of n lines. */
    ddp_status (*check_list)(char *const *paths, int n, ddp_error *err);
    /* Share which of its pictures have a label file. has[i] is 0 where line i has none, as rank 0
     * sees it, and becomes the same on all ranks. */
    ddp_status (*labelled)(char *has, int n, ddp_error *err);
    /* A step has ended, and its line is out. May call ddp_plugin_save and ddp_plugin_stop. */
    ddp_status (*step_ended)(network *net, const ddp_train_position *now,
                             const ddp_figures *figures, ddp_error *err);
    /* Save the first cutoff layers at path, and more beside it. net is settled. */
    ddp_status (*save)(network *net, const char *path, int cutoff, ddp_error *err);
    /* A rank was asked to end, and what this run has learnt is saved: all ranks leave here.
     * Threads that load samples go on until the process ends. */
    void (*leave)(void) __attribute__((noreturn));
    /* A picture or its labels cannot be read, for this reason; from any thread. */
    void (*unreadable)(const char *sentence);
    /* End all ranks: more cannot be read than may be, as `what` says. The text `instead` says what
     * happens to such files where some may be skipped; NULL: that would not help. `saved` is 1 if
     * what this run has learnt is saved, and 0 if it has learnt nothing yet. */
    void (*end_unreadable)(const char *what, const char *instead, int saved)
        __attribute__((noreturn));
} ddp_plugin_callbacks;

typedef struct ddp_plugin_config {
    ddp_group *group;
    ddp_trainer *trainer;      /* not attached */
    ddp_watch *watch;          /* hears when the run saves, validates and loads; NULL: nobody */
    uint64_t seed;             /* all ranks must have the same */
    int replace;               /* draw samples with replacement */
    ddp_bad_samples *bad_data; /* the trainer's */
    int skip_bad; /* samples that may have something else in their place; 0: the first ends the run
                   */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
    ddp_plugin_callbacks callbacks;
} ddp_plugin_config;

/* Have Darknet's train commands train with config->trainer. group and trainer must outlive the
 * plugin. */
void ddp_plugin_open(const ddp_plugin_config *config);

/* From a callback: save net as NAME + end in the run's directory, "_best.weights" say. Collective.
 */
void ddp_plugin_save(network *net, const char *end);

/* Save what was learnt up to here, and end the run for files that cannot be read, as `what` says.
 * From a callback, and on every rank. instead: what happens to such files where some may be
 * skipped; NULL: that would not help. */
void ddp_plugin_end_unreadable(network *net, const char *what, const char *instead)
    __attribute__((noreturn));

/* End the run so for samples of this step: the trainer's `unreadable` (trainer/trainer.h). */
void ddp_plugin_end_bad_samples(network *net, size_t step, size_t samples)
    __attribute__((noreturn));

/* From a callback, and on every rank: end the run after this step, as if a signal had asked for
 * it. */
void ddp_plugin_stop(void);

/* The picture that is this sample of the run, a line of the training list, and which line, from 1.
 * NULL where there is no list. */
const char *ddp_plugin_sample(size_t sample, size_t *line);

/* Samples of this run, of all ranks, that had something else in their place. */
size_t ddp_plugin_replaced(void);

/* Darknet is alone again. Nothing happens if none is open. */
void ddp_plugin_close(void);

#endif
