/* cli/measure_run.h: measures how long training takes for a picture, by a short training run. */
#ifndef DDP_CLI_MEASURE_RUN_H
#define DDP_CLI_MEASURE_RUN_H

#include "base/status.h"

#include <stddef.h>

typedef struct ddp_measured_run {
    double seconds_a_picture; /* time of a step divided by the pictures of all ranks in it */
    size_t pictures;          /* pictures of the measured steps: of all steps but the first */
    int ranks;                /* number of ranks that trained */
} ddp_measured_run;

/* Train a cfg on `ranks` ranks for some seconds, three steps at least, as a child process with a
 * temporary folder. Fails with DDP_ERR_FORMAT if it ends before its third step. Fails also with
 * DDP_ERR_IO, DDP_ERR_NOMEM. Ctrl-C ends the run, removes the folder, and ends this program.
 *   data      path of the .data file
 *   cfg_text  text of the cfg, whose subdivisions= must not be 0 */
ddp_status ddp_measure_run(ddp_measured_run *measured, const char *data, const char *cfg_text,
                           int ranks, ddp_error *err) DDP_MUST_CHECK;

#endif
