/* predict/predictor.h: predicts pictures with a detector or classifier, one at a time, while
 * threads decode the next pictures.
 *
 * 1. ddp_predictor_open prepares a network that has its weights.
 * 2. ddp_predictor_load starts to decode a picture, if ddp_predictor_has_room returns 1.
 * 3. ddp_predictor_next predicts the picture that was loaded first. (ddp_predictor_predict_rgb and
 *    ddp_predictor_predict_planes predict pixels in memory.)
 * 4. ddp_prediction_release frees a prediction, ddp_predictor_close the predictor.
 *
 * If there is no memory for a prediction, Darknet ends the program. */
#ifndef DDP_PREDICT_PREDICTOR_H
#define DDP_PREDICT_PREDICTOR_H

#include "base/status.h"
#include "eval/detections.h"
#include "glue/network.h"

#include <stdint.h>

typedef struct ddp_predictor ddp_predictor;

typedef struct ddp_predictor_config {
    int is_classifier;
    float thresh;    /* score, 0 to 1, up to which boxes are left out */
    float hierarchy; /* tree of classes: a finer class is chosen if its probability is above this */
    /* overlap of two boxes of a class, 0 to 1, measured as nms_kind= says: if it is larger, the
     * less likely box is left out; 0: none is */
    float nms;
    int top;     /* greatest number of classes that a classifier finds in a picture */
    int threads; /* number of pictures that are decoded at a time, at least 1 */
    int mirrors; /* 1: a detector also predicts the mirrored picture */
} ddp_predictor_config;

enum { DDP_PREDICTION_WHY = 1024 };

/* The prediction of one picture by one predictor. */
typedef struct ddp_prediction {
    const char *path;  /* passed to ddp_predictor_load; for pixels in memory NULL until set */
    size_t number;     /* index of the picture in its list, or of the frame in its film, from 0 */
    int is_frame;      /* 1: a frame of a film */
    int width, height; /* size of the picture in pixels; 0: it cannot be read */
    double seconds;    /* time of the forward pass; with `mirrors`, of the first of two */
    /* found[0..count): a detector's boxes in fractions of the picture, one of two classes twice; or
     * a classifier's likeliest classes, with boxes of 0. The likeliest come first. With `mirrors`,
     * found[i].picture is 1 if the box was found in the mirrored picture; it is mirrored back. */
    ddp_detection *found;
    size_t count;
    size_t not_finite; /* pairs of box and class left out since a number is not finite */
    /* If a detector finds nothing, the likeliest box below the threshold; with `mirrors`, that of
     * the mirrored picture. In all other cases best.score is 0. */
    ddp_detection best;
    double best_threshold; /* round number below best.score, to propose as thresh; 0: no best */
    char why[DDP_PREDICTION_WHY]; /* which picture cannot be read, and why; "": it was read */
    float *pixels; /* 3 planes, red, green, blue, from 0 to 1; NULL: the picture cannot be read, or
                      another rank has its pixels */
} ddp_prediction;

/* Set *out to a predictor that uses net; NULL on failure. net must outlive the predictor, and keep
 * its weights and size. Sets net's batch and Darknet's gemm_any_threads to 1. Computes once, so
 * that the first picture takes no longer than others. Fails with DDP_ERR_USAGE (net's input has not
 * 3 channels, or is_classifier is 0 and net is no detector), DDP_ERR_NOMEM. */
ddp_status ddp_predictor_open(ddp_predictor **out, network *net, const ddp_predictor_config *config,
                              ddp_error *err) DDP_MUST_CHECK;

/* Compute the convolutions of all later predictions in bf16, where oneDNN can. Fails with
 * DDP_ERR_USAGE (net is on a GPU, the CPU has no instructions for bf16, or this build no oneDNN)
 * and DDP_ERR_NOMEM; then nothing changes. */
ddp_status ddp_predictor_use_bf16(ddp_predictor *p, ddp_error *err) DDP_MUST_CHECK;

/* Set `thresh` and `nms` (ddp_predictor_config) for all later predictions. */
void ddp_predictor_set_thresholds(ddp_predictor *p, float thresh, float nms);

/* Return 1 if ddp_predictor_load may be called: fewer than `threads` pictures wait. */
int ddp_predictor_has_room(const ddp_predictor *p);

/* Start to decode the picture at path in a thread. Call only if ddp_predictor_has_room returns 1.
 * path must stay valid as long as the prediction, which gets path and number. */
void ddp_predictor_load(ddp_predictor *p, const char *path, size_t number);

/* Wait until the picture that was loaded first is decoded, predict it, and return 1. If it cannot
 * be read, also return 1, with the reason in out->why. If no picture is loaded, return 0. The
 * caller releases *out after 1; after 0 it is all zero. */
int ddp_predictor_next(ddp_predictor *p, ddp_prediction *out);

/* Predict width x height pixels in memory, 3 bytes each, rows from the top. They are copied to
 * out->pixels. Sets *out, which the caller releases, and whose path, number and is_frame it may
 * set. */
void ddp_predictor_predict_rgb(ddp_predictor *p, const unsigned char *rgb, int width, int height,
                               ddp_prediction *out);

/* Predict a picture in memory: 3 planes of width * height floats, from 0 to 1. Sets *out, which the
 * caller releases. `planes` becomes out->pixels, and is freed with it (by free). */
void ddp_predictor_predict_planes(ddp_predictor *p, float *planes, int width, int height,
                                  ddp_prediction *out);

/* Free p->found and p->pixels, and make *p all zero. */
void ddp_prediction_release(ddp_prediction *p);

/* Free p, but not its network. Takes the time to predict the pictures that are still loaded. NULL
 * is allowed. */
void ddp_predictor_close(ddp_predictor *p);

#endif
