/* show/step_timing.h: measures how the time of each step is spent, and writes it to columns of a
 * row of NAME.csv (show/csv_columns.h). */
#ifndef DDP_SHOW_STEP_TIMING_H
#define DDP_SHOW_STEP_TIMING_H

#include "trainer/trainer.h"

#include <stddef.h>
#include <stdint.h>

/* Totals at one moment: clock, times and images. A step's values are the differences of two. */
struct ddp_step_counts {
    int64_t now_ns, communication_ns, save_ns, aside_ns;
    ddp_trainer_times times;
    size_t images;
};

typedef struct ddp_step_timing {
    ddp_trainer *trainer;
    struct ddp_step_counts first; /* totals when the step of the present row began */
    struct ddp_step_counts last;  /* totals at the end of the last step */
    int64_t saving_ns;            /* when the present save began (ddp_clock_ns) */
    int64_t save_ns;              /* total time spent on saving */
    int64_t aside_ns; /* total time of saves, validations and writing rows: no wait for samples */
    /* 1: a step has ended (ddp_step_timing_end), and the next has not begun (_next) */
    int in_row;
} ddp_step_timing;

/* Begin the first step. images: count of the images of all ranks since the network was new; not 0
 * if the run was resumed. The trainer must stay attached while *t is used. */
void ddp_step_timing_begin(ddp_step_timing *t, ddp_trainer *trainer, size_t images);

/* Note that a save begins. */
void ddp_step_timing_saving(ddp_step_timing *t);
/* Note that a save has ended. */
void ddp_step_timing_saved(ddp_step_timing *t);

/* End a step. Write its speed and times to row; DDP_COLUMN_SAVE stays as it is. images: the count
 * at the step's end. */
void ddp_step_timing_end(ddp_step_timing *t, size_t images, double *row);

/* Return the seconds of saving since the row before, for DDP_COLUMN_SAVE. */
double ddp_step_timing_save_s(const ddp_step_timing *t);

/* Begin the next step at now_ns. Time since the last step's end counts for no step. */
void ddp_step_timing_next(ddp_step_timing *t, int64_t now_ns);

#endif
