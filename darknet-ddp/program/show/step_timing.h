/* show/step_timing.h: where the time of each step goes, as columns of a row (show/csv_columns.h).
 */
#ifndef DDP_SHOW_STEP_TIMING_H
#define DDP_SHOW_STEP_TIMING_H

#include "trainer/trainer.h"

#include <stddef.h>
#include <stdint.h>

/* Counts so far of what a row holds the differences of. */
struct ddp_step_counts {
    int64_t now_ns, communication_ns, save_ns, aside_ns;
    ddp_trainer_times times;
    size_t images;
};

typedef struct ddp_step_timing {
    ddp_trainer *trainer;
    struct ddp_step_counts last, step; /* when this step began, and when it ended */
    int64_t saving_ns;                 /* when it began */
    int64_t save_ns;                   /* spent on saving, */
    int64_t aside_ns;                  /* and on what is no part of a step, that included */
    int in_row;                        /* between ddp_step_timing_end and ddp_step_timing_next */
} ddp_step_timing;

/* The first step begins, after so many images. The trainer must outlive *t. */
void ddp_step_timing_begin(ddp_step_timing *t, ddp_trainer *trainer, size_t images);

/* Around each save. */
void ddp_step_timing_saving(ddp_step_timing *t);
void ddp_step_timing_saved(ddp_step_timing *t);

/* A step has ended, after so many images: write its speed and times to row, less that of saving. */
void ddp_step_timing_end(ddp_step_timing *t, size_t images, double *row);

/* Seconds of saving since the row before. */
double ddp_step_timing_save_s(const ddp_step_timing *t);

/* The row is complete, and the next step begins now; what came since the step ended is aside. */
void ddp_step_timing_next(ddp_step_timing *t, int64_t now_ns);

#endif
