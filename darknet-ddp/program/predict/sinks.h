/* predict/sinks.h: where predictions go. Each sink is a file NAME_sink.c with a function that opens
 * it. */
#ifndef DDP_PREDICT_SINKS_H
#define DDP_PREDICT_SINKS_H

#include "base/status.h"
#include "film/film.h"
#include "predict/predictor.h"

#include <stddef.h>

/* Facts about a command that every sink (writer of predictions) knows. */
typedef struct ddp_sink_config {
    int is_classifier;
    const char *data;   /* the .data file */
    char *const *names; /* a name for each class; not NULL */
    int classes;
    int views;      /* how often a picture is looked at: by each predictor, twice with `mirrors` */
    float thresh;   /* score, 0 to 1, from which boxes were kept */
    int ext_output; /* 1: the sides of boxes are printed, too, in pixels */
    char *const *paths; /* the pictures and films, `count` of them */
    size_t count;
    int is_one_file; /* 1: the command names one picture or film, and no list or folder */
} ddp_sink_config;

typedef struct ddp_sink ddp_sink;

struct ddp_sink {
    void *ctx;
    /* Begin a film, whose frames come next. number: its index in the list. NULL: not called. */
    ddp_status (*begin_film)(void *ctx, const char *path, size_t number, const ddp_film_info *info,
                             ddp_error *err);
    /* Take one prediction, which the caller releases. Pictures that cannot be read come, too. */
    ddp_status (*take)(void *ctx, ddp_prediction *p, ddp_error *err);
    /* End the film. NULL: not called. */
    ddp_status (*end_film)(void *ctx, ddp_error *err);
    /* Write what is left, and free ctx. Called once, also after a failure. */
    ddp_status (*close)(void *ctx, ddp_error *err);
    /* 1: takes the predictions of its own rank, with pixels. 0: takes those of all ranks on rank 0,
     * in the order of the list, without pixels where there are several ranks. */
    int is_of_each_rank;
};

/* Each function below sets *s to an open sink. config, and the names given, must outlive it. Fails
 * with DDP_ERR_NOMEM; *s is then open if its ctx is set. */

/* Open a sink that prints predictions as lines on standard output. */
ddp_status ddp_terminal_sink_open(ddp_sink *s, const ddp_sink_config *config,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Open a sink that writes all predictions to the file at path, which is emptied now. coco: 1 for
 * COCO's format of results, 0 for our own. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_json_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *path,
                              int coco, ddp_error *err) DDP_MUST_CHECK;

/* Open a sink that writes each picture's label file where training looks for it. A file that is
 * there already stays as it is. Taking a picture fails with DDP_ERR_IO if its file cannot be
 * written. Closing prints how many files were written, and how many were there already. */
ddp_status ddp_label_sink_open(ddp_sink *s, const ddp_sink_config *config,
                               ddp_error *err) DDP_MUST_CHECK;

/* Open a sink that writes pictures with boxes; boxes of label files are thin. out: NAME of
 * NAME.jpg, for one picture, or a folder; NULL: "predictions". Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM. Opening, and taking a picture, fail with DDP_ERR_USAGE if a file would be written
 * over that is not the sink's own. */
ddp_status ddp_picture_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *out,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Open a sink that writes NAME.mp4, with boxes, for each film. out: NAME of NAME.mp4, for one film,
 * or a folder; not NULL. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. The sink's begin_film fails with
 * DDP_ERR_USAGE if NAME.mp4 is there and not empty. */
ddp_status ddp_film_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *out,
                              ddp_error *err) DDP_MUST_CHECK;

#endif
