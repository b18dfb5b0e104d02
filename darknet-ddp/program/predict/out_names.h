/* predict/out_names.h: makes names for the JPEG files, films and label files of -out. In a folder
 * they have their picture's name, with a number behind it if several pictures have that name. */
#ifndef DDP_PREDICT_OUT_NAMES_H
#define DDP_PREDICT_OUT_NAMES_H

#include "base/status.h"
#include "predict/sinks.h"

enum { DDP_OUT_NAME = 4096 };

typedef struct ddp_out_names {
    const ddp_sink_config *config;
    const char *out; /* path of a folder, or of one file, with or without .jpg or .mp4 */
    int is_folder;   /* 1: `out` is the path of a folder, 0: of one file */
    /* by picture: 1 if another has the same file name without ending; NULL if `out` is a file */
    char *repeated;
} ddp_out_names;

/* Prepare names of files. Close *n in any case. config and out must outlive *n. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM.
 *   out   a folder, which is made if it does not exist. With config->is_one_file: the name of the
 *         file, unless there is a folder of this name */
ddp_status ddp_out_names_open(ddp_out_names *n, const ddp_sink_config *config, const char *out,
                              ddp_error *err) DDP_MUST_CHECK;

/* Write to `name` the path of the file for a picture, without ending: n->out itself or, if that is
 * a folder, the picture's file name in it. "-" and number + 1 follow if other pictures have the
 * same name. path, number: the picture's path, and its index in config->paths. */
void ddp_out_name(const ddp_out_names *n, const char *path, size_t number, char name[DDP_OUT_NAME]);

/* Free what *n owns. All zero is allowed. */
void ddp_out_names_close(ddp_out_names *n);

#endif
