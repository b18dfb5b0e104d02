/* show/progress.h: computes a run's speed, its share of communication and loading, and its
 * remaining time, for the line about each step (show/step_line.h). */
#ifndef DDP_SHOW_PROGRESS_H
#define DDP_SHOW_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* Counts at a step's end. */
typedef struct ddp_progress_now {
    int64_t now_ns;           /* the time (ddp_clock_ns) */
    int64_t communication_ns; /* time in communication so far, on this rank; -1: not counted */
    int64_t loading_ns;       /* time waiting for samples so far, on this rank; -1: not counted */
    size_t images;            /* images so far, of all ranks */
    size_t step;              /* steps done so far, earlier runs' included (Darknet's batches) */
    size_t last_step;         /* last step of the training; 0: unknown */
} ddp_progress_now;

/* A run's progress. */
typedef struct ddp_progress {
    int64_t started_ns; /* when the clock was started (ddp_clock_ns) */
    /* counts at the last step's end. step_line.c adds to its times what a validation took, which
     * then counts for no step, and to loading_ns what a save took */
    ddp_progress_now last;
    size_t steps; /* number of steps since started_ns */
    /* sums over all steps, in which a step counts 0.95 times as much as the next one */
    double images, step_ns, communication_ns, loading_ns;
} ddp_progress;

/* Start the clock. Call before the first step. now: the counts at that time. */
void ddp_progress_start(ddp_progress *p, const ddp_progress_now *now);

/* Add a step that has ended. now: the counts at its end. */
void ddp_progress_step(ddp_progress *p, const ddp_progress_now *now);

/* Return the images a second of all ranks: a mean in which the last 20 steps have two thirds of the
 * weight. Returns 0 before a step has ended. */
double ddp_progress_speed(const ddp_progress *p);

/* Return the share of the last steps' time, 0 to 1, that this rank spent on communication. 0 before
 * a step has ended; NaN: communication is not measured. */
double ddp_progress_communication(const ddp_progress *p);

/* Return the share of the last steps' time, 0 to 1, that this rank waited for samples. 0 before a
 * step has ended; NaN: not counted. */
double ddp_progress_loading(const ddp_progress *p);

/* Return 1 if this rank waited for samples in a fifth or more of the last steps' time; 0 if not, or
 * if that is not known. */
int ddp_progress_waits_for_loader(const ddp_progress *p);

/* Return the seconds until the last step; NaN: the last step is not known or is past, or no step
 * has ended. */
double ddp_progress_remaining_s(const ddp_progress *p);

/* Write ", 31.2 images/s, 12% comm, 2.3 hours left" to text[0..size). If loading slows training
 * down, ", 40% loading" follows "comm". Parts that are not known are left out, but for the speed:
 * it is 0.0 before a step has ended. */
void ddp_progress_line(const ddp_progress *p, char *text, size_t size);

/* Figures of Darknet's own line, "120: 1.690192, 2.306286 avg, 0.005000 rate, ...". */
typedef struct ddp_progress_figures {
    double loss, average_loss, rate;
} ddp_progress_figures;

/* Read the figures from Darknet's line about a step, and return 1. Returns 0 if `line` is no such
 * line; *figures is then undefined. */
int ddp_progress_read(ddp_progress_figures *figures, const char *line);

#endif
