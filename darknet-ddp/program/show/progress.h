/* show/progress.h: the figures of the line about a step: what follows Darknet's own line in a file,
 * and the line that renews itself on a terminal. */
#ifndef DDP_SHOW_PROGRESS_H
#define DDP_SHOW_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_progress {
    int64_t started_ns;
    int64_t last_ns;
    int64_t last_communication_ns, last_loading_ns;
    size_t last_images;
    size_t steps; /* since then */
    /* of the last steps, the older the less they count */
    double images, step_ns, communication_ns, loading_ns;
    size_t step, last_step; /* the last one's */
} ddp_progress;

/* What one step adds. */
typedef struct ddp_progress_now {
    int64_t now_ns;
    int64_t communication_ns; /* total so far, on this rank; -1: there is none to speak of */
    int64_t loading_ns;       /* outside of the network's passes, as communication_ns */
    size_t images;            /* total so far, all ranks */
    size_t step;              /* batches done so far, as Darknet counts */
    size_t last_step;         /* of the training; 0: unknown */
} ddp_progress_now;

/* Start the clock: now is before the first step. */
void ddp_progress_start(ddp_progress *p, const ddp_progress_now *now);

/* A step has ended. */
void ddp_progress_step(ddp_progress *p, const ddp_progress_now *now);

/* Images a second over the last steps. */
double ddp_progress_speed(const ddp_progress *p);

/* Share of the last steps' wall time in which this rank waited for messages or moved them; NaN:
 * there is none to speak of. */
double ddp_progress_communication(const ddp_progress *p);

/* Share of the last steps' wall time in which this rank waited for its samples; NaN: there is none
 * to speak of. */
double ddp_progress_loading(const ddp_progress *p);

/* Whether that is so much, a fifth, that the loader holds training up. */
int ddp_progress_waits_for_loader(const ddp_progress *p);

/* Seconds until the last step; NaN: not known. */
double ddp_progress_remaining_s(const ddp_progress *p);

/* Write ", 31.2 images/s, 12% comm, 2.3 hours left" to text, which has size bytes; where the loader
 * holds training up, with ", 40% loading" behind the communication. */
void ddp_progress_line(const ddp_progress *p, char *text, size_t size);

/* What Darknet's own line says, "120: 1.690192, 2.306286 avg, 0.005000 rate, ...". */
typedef struct ddp_progress_figures {
    double loss, average_loss, rate;
} ddp_progress_figures;

/* 0: it is no such line. */
int ddp_progress_read(ddp_progress_figures *figures, const char *line);

#endif
