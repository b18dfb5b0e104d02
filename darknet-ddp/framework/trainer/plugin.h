/* trainer/plugin.h: makes Darknet's train commands train with a trainer (trainer/trainer.h).
 *
 * Darknet calls the functions of its train_plugin (darknet.h) while a train command runs. They tell
 * it how the batch is cut over ranks, which line of the training list a sample is, and random
 * numbers; and they save. A process has one plugin at most, because Darknet calls it without
 * context.
 *
 * The plugin calls ddp_plugin_callbacks for all that a program decides. "Call from a callback"
 * means: from one of those that every rank calls, in the same step. A failure, also of a
 * callback, ends the program by the trainer's config.fail. */
#ifndef DDP_TRAINER_PLUGIN_H
#define DDP_TRAINER_PLUGIN_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"
#include "glue/train_position.h"
#include "trainer/head_sums.h"
#include "trainer/label_losses.h"
#include "trainer/trainer.h"

#include <stdint.h>

/* Figures of the last step. */
typedef struct ddp_figures {
    double loss;                       /* mean loss per image, over all ranks (ddp_trainer_loss) */
    double average_loss;               /* Darknet's running average of the loss */
    double rate;                       /* learning rate */
    ddp_head_figures heads[DDP_HEADS]; /* for this rank's images, in the cfg's order; unused: 0 */
} ddp_figures;

/* Functions that the plugin calls; all but `unreadable` on every rank. None is NULL. cfg: path of
 * the cfg. */
typedef struct ddp_plugin_callbacks {
    /* Load a checkpoint into net, and set *seed to its seed; without a checkpoint leave both.
     * Called when net has been parsed. Only rank 0's net has to change: the others get what rank 0
     * has. *seed must become the same on all ranks. directory: that of the run's weights. */
    ddp_status (*resume)(network *net, const char *directory, const char *cfg, uint64_t *seed,
                         ddp_error *err);
    /* Called when the trainer is attached to net, before the first step. */
    ddp_status (*attached)(network *net, const ddp_train_position *now, const char *cfg,
                           ddp_error *err);
    /* Called for each file that Darknet reads as `what`: "labels", "tree", "map". Comes before
     * `resume`, but with `cifar train` after `attached`. */
    ddp_status (*reads)(const char *what, const char *path, ddp_error *err);
    /* Check the training list of n lines. Called before the first step. */
    ddp_status (*check_list)(char *const *paths, int n, ddp_error *err);
    /* Give has[0..n) of rank 0 to all ranks: has[i] is 0 if the picture of line i of the training
     * list has no label file. */
    ddp_status (*labelled)(char *has, int n, ddp_error *err);
    /* Called at the end of each step, after its line is printed. Some layers may still wait for
     * their update (ddp_trainer_flush), and ranks may differ (ddp_trainer_in_sync). */
    ddp_status (*step_ended)(network *net, const ddp_train_position *now,
                             const ddp_figures *figures, ddp_error *err);
    /* Save the first `cutoff` layers at path, with the state file beside it. All layers are
     * updated, and ranks have the same parameters. */
    ddp_status (*save)(network *net, const char *path, int cutoff, ddp_error *err);
    /* End the program after a signal or ddp_plugin_stop. The run is saved already. Threads that
     * load samples go on until the process ends. */
    void (*leave)(void) __attribute__((noreturn));
    /* Print `sentence`, on a picture or labels that cannot be read; it is valid during the call.
     * Called from any thread. */
    void (*unreadable)(const char *sentence);
    /* End the program because more files cannot be read than are allowed.
     *   what      a sentence that says which
     *   instead   a phrase on what the option that skips such files does; NULL: it would not help
     *   saved     1: the run was saved; 0: it has learnt nothing yet */
    void (*end_unreadable)(const char *what, const char *instead, int saved)
        __attribute__((noreturn));
} ddp_plugin_callbacks;

typedef struct ddp_plugin_config {
    ddp_group *group;
    /* the trainer, to which no network is attached yet; its config.bad_data is not NULL */
    ddp_trainer *trainer;
    uint64_t seed; /* a new run's seed, the same on all ranks; a resumed run has its own */
    int replace;   /* 1: draw samples with replacement */
    int skip_bad;  /* unreadable samples that a run may replace; 0: the first ends it */
    ddp_plugin_callbacks callbacks;
} ddp_plugin_config;

/* Have Darknet's train commands train with config->trainer, until ddp_plugin_close. Call on every
 * rank. *config is copied; all that it points to must outlive the plugin. */
void ddp_plugin_open(const ddp_plugin_config *config);

/* Save net in the run's directory. The file's name is the cfg's name with `end` behind it, such as
 * "_best.weights". In a period of local SGD, saves when the period ends. Call from a callback. */
void ddp_plugin_save(network *net, const char *end);

/* Save the backup, if this run has learnt anything, and end the program by
 * callbacks.end_unreadable, which explains the arguments. Call on every rank, from a callback. */
void ddp_plugin_end_unreadable(network *net, const char *what, const char *instead)
    __attribute__((noreturn));

/* Save and end the run because `samples` samples of step `step` cannot be read, by
 * ddp_plugin_end_unreadable, on every rank. Serves as the trainer's config.unreadable. */
void ddp_plugin_end_bad_samples(network *net, size_t step, size_t samples)
    __attribute__((noreturn));

/* Ask for the end of the run. It is saved and ended after this step's update or, with local SGD,
 * after its period. Call from a callback. */
void ddp_plugin_stop(void);

/* Return the path of the picture that is sample number `sample` of the run, from 0. Set *line to
 * its line in the training list, from 1. Does not know what another rank loaded in place of an
 * unreadable one. NULL without a list; *line then stays. The string lives as long as the run. */
const char *ddp_plugin_sample_path(size_t sample, size_t *line);

/* Return the path of the picture on line `line` of the training list, from 0. The run must have a
 * list. The string lives as long as the run. */
const char *ddp_plugin_line_path(size_t line);

/* Return the losses of labels that this rank has trained so far; NULL if the network has no [yolo],
 * or no training list was read. The plugin owns them, until ddp_plugin_close. */
ddp_label_losses *ddp_plugin_label_losses(void);

/* Return how many unreadable samples of all ranks this run has replaced by others. */
size_t ddp_plugin_replaced(void);

/* Take the plugin away from Darknet, and drop the saves that still wait (ddp_plugin_save). Call
 * when no thread loads samples any more. Does nothing if none is open. */
void ddp_plugin_close(void);

#endif
