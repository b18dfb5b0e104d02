/* cli/progress.h: what stands behind Darknet's own progress line. */
#ifndef DDP_CLI_PROGRESS_H
#define DDP_CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_progress {
    int64_t started_ns; /* 0: no step is finished yet */
    int64_t last_ns;
    int64_t last_communication_ns;
    size_t last_images;
    size_t steps;
} ddp_progress;

/* What one step adds. */
typedef struct ddp_progress_now {
    int64_t now_ns;
    int64_t communication_ns; /* total so far, on this rank */
    size_t images;            /* total so far, all ranks */
    size_t step;              /* batches done so far, as Darknet counts */
    size_t last_step;         /* of the training; 0: unknown */
} ddp_progress_now;

/* Start the clock: now is before the first step. */
void ddp_progress_start(ddp_progress *p, const ddp_progress_now *now);

/* Write ", 31.2 images/s, 12% comm, 2.3 hours left" for the step since the last
 * call to text, which has size bytes. "comm" is the share of the step's wall time
 * in which this rank waited for messages or moved them. */
void ddp_progress_line(ddp_progress *p, const ddp_progress_now *now, char *text, size_t size);

/* Write "2.3 hours", "5 minutes" or "40 seconds". */
void ddp_progress_left(double seconds, char *text, size_t size);

#endif
