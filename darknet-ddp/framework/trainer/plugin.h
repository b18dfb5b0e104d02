/* trainer/plugin.h: the plugin of Darknet's train commands (train_plugin in darknet.h). They ask it
 * which line of a list a sample is, what is drawn for it, how the batch is cut, and when to save.
 *
 * A process has one at most, because Darknet calls back without context. "From a callback" below
 * means one of ddp_plugin_callbacks, called on every rank in the same step. A failure, also of a
 * callback, ends the program by config.fail. */
#ifndef DDP_TRAINER_PLUGIN_H
#define DDP_TRAINER_PLUGIN_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"
#include "glue/train_position.h"
#include "trainer/head_sums.h"
#include "trainer/label_losses.h"
#include "trainer/trainer.h"
#include "watch/watch.h"

#include <stdint.h>

/* Figures of the last step: losses over all ranks; of heads, over this rank's images. */
typedef struct ddp_figures {
    /* mean loss of an image, and Darknet's running average of the loss */
    double loss, average_loss;
    double rate;                       /* learning rate */
    ddp_head_figures heads[DDP_HEADS]; /* by head, in the net's order; then zeros */
} ddp_figures;

/* Functions that the plugin calls; all but `unreadable` on every rank. */
typedef struct ddp_plugin_callbacks {
    /* Resume the run from a checkpoint, or leave net as it is. Called when net has been parsed from
     * the file cfg; its weights will be saved in `directory`. *seed is the run's, and may become
     * the checkpoint's, on every rank alike. Only rank 0's net has to change; the others get what
     * rank 0 has. */
    ddp_status (*resume)(network *net, const char *directory, const char *cfg, uint64_t *seed,
                         ddp_error *err);
    /* Called when the trainer is attached to net; the first step comes next. cfg is a path. */
    ddp_status (*attached)(network *net, const ddp_train_position *now, const char *cfg,
                           ddp_error *err);
    /* Called before `resume` for each file that is read of the kind `what`: "labels", "tree" or
     * "map". */
    ddp_status (*reads)(const char *what, const char *path, ddp_error *err);
    /* Check the training list of n lines. Called before training begins. */
    ddp_status (*check_list)(char *const *paths, int n, ddp_error *err);
    /* Share which pictures of the training list of n lines have a label file. If line i has none on
     * rank 0, has[i] is 0 there; has[] must become the same on all ranks. */
    ddp_status (*labelled)(char *has, int n, ddp_error *err);
    /* Called when a step's line is printed. May call ddp_plugin_save and ddp_plugin_stop. */
    ddp_status (*step_ended)(network *net, const ddp_train_position *now,
                             const ddp_figures *figures, ddp_error *err);
    /* Save the first `cutoff` layers at path, and what belongs beside it. net is settled. */
    ddp_status (*save)(network *net, const char *path, int cutoff, ddp_error *err);
    /* Leave the program, by a signal or ddp_plugin_stop; what this run has learnt is saved. Threads
     * that load samples go on until the process ends. */
    void (*leave)(void) __attribute__((noreturn));
    /* Print `sentence`: a picture or its labels cannot be read, and why. Called from any thread. */
    void (*unreadable)(const char *sentence);
    /* End the program because more files cannot be read than are allowed. `what`: a sentence that
     * says which. `instead`: a phrase on what happens to such files where some may be skipped;
     * NULL: skipping would not help. `saved`: 1 if what this run has learnt is saved, 0 if it has
     * learnt nothing yet. */
    void (*end_unreadable)(const char *what, const char *instead, int saved)
        __attribute__((noreturn));
} ddp_plugin_callbacks;

typedef struct ddp_plugin_config {
    ddp_group *group;
    ddp_trainer *trainer; /* the trainer, to which no network is attached yet */
    ddp_watch *watch; /* watch over processes, told of saves, validations and loads; NULL: none */
    uint64_t seed;    /* the run's seed, the same on all ranks */
    int replace;      /* 1: draw samples with replacement */
    ddp_bad_samples *bad_data; /* record of unreadable samples, the trainer's own; not NULL */
    int skip_bad;              /* unreadable samples that a run may replace; 0: the first ends it */
    /* Ends the program with an error. */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
    ddp_plugin_callbacks callbacks;
} ddp_plugin_config;

/* Have Darknet's train commands train with config->trainer, until ddp_plugin_close. Call it on
 * every rank. *config is copied; all that it points to must outlive the plugin. */
void ddp_plugin_open(const ddp_plugin_config *config);

/* Save net in the run's directory, as the cfg's name with `end` behind it, such as "_best.weights".
 * Call from a callback, on every rank. If ranks differ (local SGD), it saves later. */
void ddp_plugin_save(network *net, const char *end);

/* Save what this run has learnt, if anything, and end it by callbacks.end_unreadable, which gets
 * what and instead (NULL allowed). Call from a callback, on every rank. */
void ddp_plugin_end_unreadable(network *net, const char *what, const char *instead)
    __attribute__((noreturn));

/* End the run because `samples` samples of step `step`, of all ranks, cannot be read. Serves as the
 * trainer's config.unreadable, which every rank calls. */
void ddp_plugin_end_bad_samples(network *net, size_t step, size_t samples)
    __attribute__((noreturn));

/* End the run with a save when this step's update has ended (local SGD: the period). Call from a
 * callback, on every rank. */
void ddp_plugin_stop(void);

/* Return the line of the training list (a picture's path) that is sample number `sample`, from 0,
 * of the run, and set *line to its number, from 1. NULL if the run has no list; *line then stays.
 * The string is Darknet's, and lives as long as the run. */
const char *ddp_plugin_sample(size_t sample, size_t *line);

/* Return line `line`, from 0, of the training list, as ddp_plugin_sample does. */
const char *ddp_plugin_picture(size_t line);

/* Return the losses of the training list's labels so far, on this rank; NULL if the network has no
 * [yolo], or no list was read. The plugin owns them. */
ddp_label_losses *ddp_plugin_label_losses(void);

/* Return how many unreadable samples of this run, of all ranks, were replaced by others. */
size_t ddp_plugin_replaced(void);

/* Take the plugin away from Darknet. Saves that wait (ddp_plugin_save) are dropped. Does nothing if
 * none is open. */
void ddp_plugin_close(void);

#endif
