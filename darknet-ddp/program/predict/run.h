/* predict/run.h: predicts many pictures and films, on one rank or several. */
#ifndef DDP_PREDICT_RUN_H
#define DDP_PREDICT_RUN_H

#include "comm/group.h"
#include "predict/sinks.h"

enum { DDP_SINKS_MOST = 5, DDP_PREDICTORS_MOST = 8 };

typedef struct ddp_predict_run {
    ddp_group *group;
    /* All predictors compute each picture; only the first computes frames of films. Each adds a
     * view or, with `mirrors`, two. `picture` of a detection is the number of its view, from 0 to
     * config->views - 1. */
    ddp_predictor *predictors[DDP_PREDICTORS_MOST];
    size_t predictor_count;
    const ddp_sink_config *config;
    /* sinks, which get predictions; ranks other than 0 have only sinks with is_of_each_rank */
    ddp_sink sinks[DDP_SINKS_MOST];
    size_t sink_count;
    /* Take a sentence that names a picture that cannot be read, on the rank that reads it; not
     * NULL. */
    void (*unreadable)(const char *sentence);
    size_t pictures, boxes, unreadable_count; /* counts so far of all ranks, on rank 0 alone; a
                                                 frame counts as a picture */
    double forward_s; /* seconds of the forward passes of all ranks, added up; only on rank 0 */
} ddp_predict_run;

/* Predict each file of config->paths, and tell the sinks. On a terminal a line shows progress. Rank
 * r of N takes pictures r, r + N and so on. Collective. Fails as the sinks do, with DDP_ERR_NOMEM,
 * with DDP_ERR_USAGE (a film, and there are several ranks or the build reads none), DDP_ERR_IO (of
 * a film), DDP_ERR_COMM. */
ddp_status ddp_predict_run_all(ddp_predict_run *run, ddp_error *err) DDP_MUST_CHECK;

/* Close all sinks, and erase the line of progress. Returns the first failure; the other sinks are
 * closed all the same. */
ddp_status ddp_predict_run_close(ddp_predict_run *run, ddp_error *err) DDP_MUST_CHECK;

#endif
