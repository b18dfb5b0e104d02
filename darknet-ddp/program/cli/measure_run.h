/* cli/measure_run.h: how long a picture takes to train on, by training on some. */
#ifndef DDP_CLI_MEASURE_RUN_H
#define DDP_CLI_MEASURE_RUN_H

#include "base/status.h"
#include "options/options.h"

typedef struct ddp_measured_run {
    double seconds_a_picture; /* of all ranks together */
    size_t pictures;          /* it was measured on */
    int ranks;
} ddp_measured_run;

/* Train a cfg, of this text, on the pictures of a .data file for some seconds, in a process and a
 * folder of its own that is removed, on the ranks of -ddp_ranks. Nothing of it stays. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM, and with DDP_ERR_FORMAT and the last line that the run has said where
 * it came to no third step. */
ddp_status ddp_measure_run(ddp_measured_run *measured, const char *data, const char *cfg_text,
                           const ddp_options *options, ddp_error *err) DDP_MUST_CHECK;

#endif
