/* predict/sinks.h: writes predictions to the terminal, to JSON, label files, pictures or films.
 * Each of these writers is a sink: a struct of callbacks, implemented in NAME_sink.c.
 *
 * A function that opens a sink sets *s, which must be all zero. The config and the path that
 * it gets must outlive the sink. After a failure, close the sink if its ctx is set. */
#ifndef DDP_PREDICT_SINKS_H
#define DDP_PREDICT_SINKS_H

#include "base/status.h"
#include "film/film.h"
#include "predict/predictor.h"

#include <stddef.h>

/* Facts about a command that every sink knows. */
typedef struct ddp_sink_config {
    int is_classifier;
    const char *data;   /* path of the .data file */
    char *const *names; /* name of each class; not NULL */
    int classes;
    /* passes over a picture, of all predictors: one each; two each if they see it mirrored, too */
    int views;
    float thresh;       /* score, 0 to 1, up to which boxes were left out */
    int ext_output;     /* 1: left, top, width and height of boxes are printed, too (-ext_output) */
    char *const *paths; /* paths of the pictures and films, `count` of them */
    size_t count;
    int is_one_file; /* 1: the command names one picture or film, and no list or folder */
} ddp_sink_config;

typedef struct ddp_sink ddp_sink;

/* A sink: callbacks that get the predictions of a command, one after the other. Those that write
 * files, except pictures, fail with DDP_ERR_IO if that is not possible. */
struct ddp_sink {
    void *ctx;
    /* Begin a film, whose frames come next. number: its index in config->paths. NULL: not called.
     */
    ddp_status (*begin_film)(void *ctx, const char *path, size_t number, const ddp_film_info *info,
                             ddp_error *err);
    /* Write the prediction of one picture or frame; may draw into its pixels. The caller releases
     * p. Pictures that cannot be read come, too: p->why says why. */
    ddp_status (*take)(void *ctx, ddp_prediction *p, ddp_error *err);
    /* End the film that began last, after its last frame. NULL: not called. */
    ddp_status (*end_film)(void *ctx, ddp_error *err);
    /* Write what is left, and free ctx. Called once, also after a failure. */
    ddp_status (*close)(void *ctx, ddp_error *err);
    /* 1: each rank's sink gets its own predictions, with pixels. 0: rank 0's sink gets those of all
     * ranks, in the order of the list; other ranks' have no pixels. */
    int is_of_each_rank;
};

/* Open a sink that prints predictions on standard output. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_terminal_sink_open(ddp_sink *s, const ddp_sink_config *config,
                                  ddp_error *err) DDP_MUST_CHECK;

/* Open a sink that writes all predictions to the file at path, which is emptied now. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM.
 *   coco   1: in COCO's format of results, for at most DDP_COCO_CLASSES classes; 0: in our own */
ddp_status ddp_json_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *path,
                              int coco, ddp_error *err) DDP_MUST_CHECK;

/* Open a sink that writes each picture's label file where training looks for it, unless the file
 * exists. Its `close` prints how many it wrote, and how many existed. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_label_sink_open(ddp_sink *s, const ddp_sink_config *config,
                               ddp_error *err) DDP_MUST_CHECK;

/* Open a sink that writes each picture with the boxes drawn in it, and thin ones for its labels.
 *   out   folder for the files, or for one picture the NAME of NAME.jpg; NULL: "predictions"
 * Fails with DDP_ERR_USAGE (a file would be overwritten that Darknet did not write), DDP_ERR_IO,
 * DDP_ERR_NOMEM. `take` fails with DDP_ERR_USAGE, too, also if it would write over the picture
 * that it gets. If a file cannot be written, Darknet ends the program. */
ddp_status ddp_picture_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *out,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Open a sink that writes each film with the boxes drawn in it. out: a folder, or for one film the
 * NAME of NAME.mp4; not NULL. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. Its begin_film fails with
 * DDP_ERR_USAGE if the file exists and is not empty. */
ddp_status ddp_film_sink_open(ddp_sink *s, const ddp_sink_config *config, const char *out,
                              ddp_error *err) DDP_MUST_CHECK;

#endif
