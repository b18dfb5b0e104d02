/* check/data.h: the pictures and labels of a training list. */
#ifndef DDP_CHECK_DATA_H
#define DDP_CHECK_DATA_H

#include "check/lists.h"

#include <stdint.h>

enum {
    DDP_CHECK_CLASSES_MOST = 100000,
    DDP_SIDE_BINS = 6,
    DDP_BOX_BINS = 6,
    DDP_PATH_BYTES = 4096
};

/* What is counted. Plain numbers: those of several ranks add up. */
typedef struct ddp_tally {
    uint64_t pictures;             /* looked at */
    uint64_t without_labels;       /* that have no label file */
    uint64_t without_boxes;        /* that have an empty one */
    uint64_t boxes;                /* good ones */
    uint64_t beyond;               /* of these, that reach beyond the picture's edge */
    uint64_t sides[DDP_SIDE_BINS]; /* pictures by their longer side: up to ddp_side_bins[i] */
    uint64_t sizes[DDP_BOX_BINS];  /* boxes by the root of width x height, fractions of the
                                      picture: up to ddp_box_bins[i] */
    uint64_t anchored;             /* boxes that were compared with anchors */
    double anchor_iou;             /* sum over them of the IoU with the best anchor */
} ddp_tally;

enum { DDP_BOX_SAMPLE = 4096 };

/* Sizes of some of many boxes: of those whose key ends in `level` zero bits, so that it does not
 * matter who has seen them. All zero is none. */
typedef struct ddp_box_sample {
    float sizes[2 * DDP_BOX_SAMPLE]; /* width and height, fractions of the network's input */
    uint32_t keys[DDP_BOX_SAMPLE];
    uint32_t count, level;
} ddp_box_sample;

extern const int ddp_side_bins[DDP_SIDE_BINS];  /* the last one is without end: 0 */
extern const double ddp_box_bins[DDP_BOX_BINS]; /* the last one is 1 */

typedef struct ddp_check_config {
    /* Where training looks for a picture's labels; out has DDP_PATH_BYTES. NULL: pictures of a
     * classifier, whose classes stand in their paths. */
    void (*label_path)(const char *picture, char *out);
    /* Load all of the picture: 0 if that succeeds; note, of size bytes, is what the decoder warns
     * of, or empty. Else note is why. NULL: only headers are read. */
    int (*decode)(const char *picture, char *note, size_t size);
    int classes;          /* 0: not known */
    char *const *names;   /* of a classifier's classes, classes of them; else NULL */
    int most_boxes;       /* that training takes of a picture; 0: not known */
    int missing_is_error; /* a picture without a label file */
    /* The shares of the network's input, width and height, that a picture of this size takes; NULL:
     * of both all. */
    void (*shares)(int width, int height, const int input[2], float shares[2]);
    int input[2];         /* for it: the network's width and height */
    const float *anchors; /* width and height of each, fractions of the input; NULL: none */
    int anchor_count;
    ddp_box_sample *sample; /* good boxes are added; NULL: nobody wants them */
} ddp_check_config;

/* Look at the pictures of a list. Faults are added to *f, counts to *t and, of good boxes or a
 * classifier's pictures, to by_class[0..config->classes). */
void ddp_check_pictures(ddp_faults *f, ddp_tally *t, uint64_t *by_class,
                        const ddp_check_config *config, const ddp_list_lines *list);

/* key: as good as random, and the box's own. */
void ddp_box_sample_add(ddp_box_sample *s, uint32_t key, float width, float height);

/* *t += *more; so classes. */
void ddp_tally_add(ddp_tally *t, const ddp_tally *more);

#endif
