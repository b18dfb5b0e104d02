/* cli/measure_run.h: measures how long training takes for a picture, by training on some. */
#ifndef DDP_CLI_MEASURE_RUN_H
#define DDP_CLI_MEASURE_RUN_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_measured_run {
    double seconds_a_picture; /* seconds for a picture, with all ranks together */
    size_t pictures;          /* pictures that were trained on */
    int ranks;                /* ranks that trained */
} ddp_measured_run;

/* Train a cfg with the text cfg_text on the pictures of the .data file `data` for some seconds, on
 * `ranks` ranks. The run has a process and a folder of its own, which is removed. Ctrl-C ends this
 * program, too, after run and folder are gone. Fails with DDP_ERR_IO, DDP_ERR_NOMEM; with
 * DDP_ERR_FORMAT, and the last line that the run has printed, if the run comes to no third step. */
ddp_status ddp_measure_run(ddp_measured_run *measured, const char *data, const char *cfg_text,
                           int ranks, ddp_error *err) DDP_MUST_CHECK;

#endif
