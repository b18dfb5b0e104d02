/* predict/out_names.h: what files with boxes are called: as their pictures, and no two alike. */
#ifndef DDP_PREDICT_OUT_NAMES_H
#define DDP_PREDICT_OUT_NAMES_H

#include "base/status.h"
#include "predict/sinks.h"

enum { DDP_OUT_NAME = 4096 };

typedef struct ddp_out_names {
    const ddp_sink_config *config;
    const char *out; /* a folder, or the name itself without its ending */
    int is_folder;
    char *repeated; /* by number, 1: another picture of the list has this name, too */
} ddp_out_names;

/* out is the name, without its ending, for one file, and the folder of several, which is made. A
 * folder that is there already takes one file, too. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_out_names_open(ddp_out_names *n, const ddp_sink_config *config, const char *out,
                              ddp_error *err) DDP_MUST_CHECK;

/* Write the path, without its ending, of what is made of the file at `path`, number `number` of the
 * list. Where names are repeated, the number, from 1, stands behind. */
void ddp_out_name(const ddp_out_names *n, const char *path, size_t number, char name[DDP_OUT_NAME]);

void ddp_out_names_close(ddp_out_names *n);

#endif
