/* predict/run.h: runs the network on pictures, on any number of ranks, and on films, on one rank.
 * Hands the predictions to sinks, which print them or write files (predict/sinks.h). */
#ifndef DDP_PREDICT_RUN_H
#define DDP_PREDICT_RUN_H

#include "comm/group.h"
#include "predict/sinks.h"

enum { DDP_SINKS_MOST = 5, DDP_PREDICTORS_MOST = 8 };

typedef struct ddp_predict_run {
    ddp_group *group;
    /* Predictors with different weights. All look at each picture, but only the first at the frames
     * of films. The boxes of all come together in one prediction; `picture` of a box is then the
     * number of its view, from 0 to config->views - 1. */
    ddp_predictor *predictors[DDP_PREDICTORS_MOST];
    size_t predictor_count;
    const ddp_sink_config *config;
    /* sinks for the predictions; on ranks other than 0, only those with is_of_each_rank */
    ddp_sink sinks[DDP_SINKS_MOST];
    size_t sink_count;
    /* Print a sentence that names a picture that cannot be read. Called on the rank that reads it;
     * not NULL. */
    void (*unreadable)(const char *sentence);
    /* counts of pictures (frames, too), boxes, unreadable pictures of all ranks; set on rank 0 */
    size_t pictures, boxes, unreadable_count;
    double forward_s; /* ddp_prediction.seconds of all pictures, added up; set on rank 0 */
} ddp_predict_run;

/* Predict each file of config->paths, and hand the predictions to the sinks. Rank r of N takes
 * pictures r, r + N and so on. On a terminal a line shows progress. Collective.
 * Fails with DDP_ERR_USAGE: a file is a film, with several ranks or in a build that reads none.
 * Fails also with DDP_ERR_IO (of a film), DDP_ERR_NOMEM, DDP_ERR_COMM, and with sinks' errors. A
 * rank that fails must end the job, since others may wait for it. */
ddp_status ddp_predict_run_all(ddp_predict_run *run, ddp_error *err) DDP_MUST_CHECK;

/* Close all sinks, also after one has failed, and erase the line of progress. Fails as the first
 * sink that failed. */
ddp_status ddp_predict_run_close(ddp_predict_run *run, ddp_error *err) DDP_MUST_CHECK;

#endif
