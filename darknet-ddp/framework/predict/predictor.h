/* predict/predictor.h: what a network finds in pictures, one at a time, while the next ones are
 * decoded on threads.
 *
 * 1. ddp_predictor_open prepares a network that has its weights.
 * 2. ddp_predictor_load starts to decode a picture, if ddp_predictor_has_room returns 1.
 * 3. ddp_predictor_next waits for the picture that was loaded first, and predicts it.
 *    ddp_predictor_frame and ddp_predictor_planes are for pixels that are in memory already.
 * 4. ddp_prediction_release frees a prediction, and ddp_predictor_close what is left.
 */
#ifndef DDP_PREDICT_PREDICTOR_H
#define DDP_PREDICT_PREDICTOR_H

#include "base/status.h"
#include "eval/detections.h"
#include "glue/network.h"

#include <stdint.h>

typedef struct ddp_predictor ddp_predictor;

typedef struct ddp_predictor_config {
    int is_classifier;
    float thresh;    /* boxes of this score or less are left out, from 0 to 1 */
    float hierarchy; /* tree of classes: probability, 0 to 1, above which a finer class counts */
    float nms;   /* overlap, as nms_kind= measures it, above which the less likely of two boxes of a
                    class goes; 0: all stay */
    int top;     /* how many classes a classifier names; all if it has fewer */
    int threads; /* pictures that are decoded at a time, at least 1 */
    int mirrors; /* 1: a detector also computes each picture mirrored */
} ddp_predictor_config;

enum { DDP_PREDICTION_WHY = 1024 };

/* The things found in one picture. */
typedef struct ddp_prediction {
    const char *path;  /* the pointer that ddp_predictor_load was given; NULL: pixels of memory */
    size_t number;     /* index of the picture in its list, or of the frame in its film, from 0 */
    int is_frame;      /* 1: a frame of a film */
    int width, height; /* size of the picture in pixels */
    double seconds;    /* time of the forward pass; with `mirrors`, of the first of two */
    /* A detector's boxes, in fractions of the picture, or a classifier's `top` likeliest classes,
     * with boxes of 0. The likeliest stands first. With `mirrors`, found[i].picture is 1 if the
     * find is of the mirrored picture; its box still lies in the picture as it is. */
    ddp_detection *found;
    size_t count;
    size_t not_finite; /* boxes left out because they are not finite */
    /* If a detector finds nothing: the likeliest box below the threshold; with `mirrors`, that of
     * the mirrored picture. Else, or if there is none, best.score is 0. */
    ddp_detection best;
    double best_shown; /* a threshold of few digits that would show `best`; 0: best.score is 0 */
    char why[DDP_PREDICTION_WHY]; /* which picture cannot be read, and why; "": it was read */
    float *pixels; /* 3 planes, red, green, blue, from 0 to 1; NULL: the picture cannot be read, or
                      another rank has its pixels */
} ddp_prediction;

/* Set *out to a predictor of net; NULL on failure. The caller frees net, after
 * ddp_predictor_close. Sets net's batch to 1 and computes once, so that no picture's time has the
 * preparations of the first pass. Fails with DDP_ERR_NOMEM, and with DDP_ERR_USAGE: net does not
 * take pictures of 3 channels, or, without is_classifier, is no detector. */
ddp_status ddp_predictor_open(ddp_predictor **out, network *net, const ddp_predictor_config *config,
                              ddp_error *err) DDP_MUST_CHECK;

/* Compute later predictions in bf16. Fails, with nothing changed, as ddp_network_check_bf16, and
 * with DDP_ERR_NOMEM. */
ddp_status ddp_predictor_use_bf16(ddp_predictor *p, ddp_error *err) DDP_MUST_CHECK;

/* Set `thresh` and `nms` of all later predictions. */
void ddp_predictor_set(ddp_predictor *p, float thresh, float nms);

/* Return 1 if ddp_predictor_load may be called. */
int ddp_predictor_has_room(const ddp_predictor *p);

/* Start to decode the picture at path on a thread. path must stay until its prediction is released.
 * number: the picture's index in its list, from 0. Call if there is room. */
void ddp_predictor_load(ddp_predictor *p, const char *path, size_t number);

/* Take the picture that was loaded first: wait until it is decoded, compute, set *out to what is
 * found in it, and return 1. Release *out. For a picture that cannot be read also return 1;
 * out->why says why. If no picture is left, return 0; *out is all zero. */
int ddp_predictor_next(ddp_predictor *p, ddp_prediction *out);

/* Set *out to what is found in the pixels of rgb, 3 bytes each, rows from the top, which are copied
 * to out->pixels. Release *out. The caller may set out's path, number and is_frame. */
void ddp_predictor_frame(ddp_predictor *p, const unsigned char *rgb, int width, int height,
                         ddp_prediction *out);

/* Set *out to what is found in `planes`: 3 of width * height floats from 0 to 1. They become
 * out->pixels, which ddp_prediction_release frees. */
void ddp_predictor_planes(ddp_predictor *p, float *planes, int width, int height,
                          ddp_prediction *out);

/* Free p->found and p->pixels, and make *p all zero. */
void ddp_prediction_release(ddp_prediction *p);
/* Free p, but not the network. First computes and drops the pictures that ddp_predictor_next has
 * not taken. NULL is allowed. */
void ddp_predictor_close(ddp_predictor *p);

#endif
