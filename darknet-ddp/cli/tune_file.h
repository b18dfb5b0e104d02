/* cli/tune_file.h: NAME.tune, what -ddp_autotune 1 has found, beside the weights.
 *
 * The file is text, so that it can be read; whoever deletes it has it measured again.
 */
#ifndef DDP_CLI_TUNE_FILE_H
#define DDP_CLI_TUNE_FILE_H

#include "base/status.h"
#include "bench/tune.h"

typedef struct ddp_tune_found {
    ddp_tuning tuning;
    double step_s;         /* median of a step with its buckets, */
    double as_is_s;        /* and with those that were asked for; */
    double chunks_step_s;  /* then, of one with its chunks, too, */
    double chunks_as_is_s; /* and with those that suit the group */
} ddp_tune_found;

/* Written whole or not at all. key: a line that says what was measured. Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM. */
ddp_status ddp_tune_file_write(const char *path, const char *key, const ddp_tune_found *found,
                               ddp_error *err) DDP_MUST_CHECK;

/* Returns 1, and sets *found, if the file is there, whole, and of the same key. Else *why says what
 * it is, for people; NULL: there is no file. */
int ddp_tune_file_read(const char *path, const char *key, ddp_tune_found *found, const char **why);

#endif
