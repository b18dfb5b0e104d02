/* predict/out_names.h: names for files that are made of predictions. Each file has its picture's
 * name, and no two have the same. */
#ifndef DDP_PREDICT_OUT_NAMES_H
#define DDP_PREDICT_OUT_NAMES_H

#include "base/status.h"
#include "predict/sinks.h"

enum { DDP_OUT_NAME = 4096 };

typedef struct ddp_out_names {
    const ddp_sink_config *config;
    const char *out; /* a folder, or the name of the one file, with its ending or without */
    int is_folder;   /* 1: `out` is a folder */
    char *repeated;  /* by picture: 1 if another of the list has the same file name; NULL: `out` is
                        no folder */
} ddp_out_names;

/* Set *n to names under `out`; config and out must outlive it. For one file (config->is_one_file)
 * `out` is the name, with its ending .jpg or .mp4 or without, unless it is a folder. For several it
 * is a folder, made if it is not there. Close *n in any case. Fails with DDP_ERR_IO, DDP_ERR_NOMEM.
 */
ddp_status ddp_out_names_open(ddp_out_names *n, const ddp_sink_config *config, const char *out,
                              ddp_error *err) DDP_MUST_CHECK;

/* Write to `name` the path, without its ending, of what is made of the picture at `path`, which has
 * index `number` in config->paths. A name that pictures share gets "-" and number + 1 behind it. */
void ddp_out_name(const ddp_out_names *n, const char *path, size_t number, char name[DDP_OUT_NAME]);

/* Free what *n owns. All zero is allowed. */
void ddp_out_names_close(ddp_out_names *n);

#endif
