/* show/progress.h: speed and remaining time of a run, for the line about a step. They stand behind
 * Darknet's own line in a file, and in the line that renews itself on a terminal. */
#ifndef DDP_SHOW_PROGRESS_H
#define DDP_SHOW_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* A run's progress. The fields last_* are the counts at the last step's end; fields *_ns are
 * nanoseconds, started_ns and last_ns by ddp_clock_ns. */
typedef struct ddp_progress {
    int64_t started_ns;
    int64_t last_ns;
    int64_t last_communication_ns, last_loading_ns;
    size_t last_images;
    size_t steps; /* steps since started_ns */
    /* sums over the steps so far, in which older steps have less weight */
    double images, step_ns, communication_ns, loading_ns;
    size_t step, last_step; /* step: steps done; last_step: last one of the training, 0: unknown.
                               Both as told last */
} ddp_progress;

/* Counts at a step's end. */
typedef struct ddp_progress_now {
    int64_t now_ns;
    int64_t communication_ns; /* time in communication so far, on this rank; -1: not counted */
    int64_t loading_ns; /* time outside of passes (loading) so far, on this rank; -1: not counted */
    size_t images;      /* images so far, of all ranks */
    size_t step;        /* steps done so far, as Darknet counts batches */
    size_t last_step;   /* last step of the training; 0: unknown */
} ddp_progress_now;

/* Start the clock, before the first step; now: the counts then. */
void ddp_progress_start(ddp_progress *p, const ddp_progress_now *now);

/* Add a step that has ended. */
void ddp_progress_step(ddp_progress *p, const ddp_progress_now *now);

/* Return the images a second of all ranks, as a mean in which the last 20 steps have two thirds of
 * the weight. Returns 0 before a step has ended. */
double ddp_progress_speed(const ddp_progress *p);

/* Return the share of the last steps' wall time in which this rank waited for messages or moved
 * them; NaN: not counted. */
double ddp_progress_communication(const ddp_progress *p);

/* Return the share of the last steps' time in which this rank waited for samples; NaN: unknown. */
double ddp_progress_loading(const ddp_progress *p);

/* Return 1 if ddp_progress_loading is a fifth or more: the loader holds training up. */
int ddp_progress_waits_for_loader(const ddp_progress *p);

/* Return the seconds until the last step; NaN: not known. */
double ddp_progress_remaining_s(const ddp_progress *p);

/* Write ", 31.2 images/s, 12% comm, 2.3 hours left" to text[0..size). If the loader holds training
 * up, ", 40% loading" stands behind the communication. */
void ddp_progress_line(const ddp_progress *p, char *text, size_t size);

/* Figures of Darknet's own line, "120: 1.690192, 2.306286 avg, 0.005000 rate, ...". */
typedef struct ddp_progress_figures {
    double loss, average_loss, rate;
} ddp_progress_figures;

/* Read the figures from `line`, and return 1. Returns 0 if `line` is not Darknet's own; *figures
 * may have changed then. */
int ddp_progress_read(ddp_progress_figures *figures, const char *line);

#endif
