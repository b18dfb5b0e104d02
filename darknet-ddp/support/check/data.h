/* check/data.h: checks the pictures and labels of a list, that of training or of validation. Lists
 * faults, counts pictures and boxes for a summary, and takes a sample of the boxes' sizes. */
#ifndef DDP_CHECK_DATA_H
#define DDP_CHECK_DATA_H

#include "check/lists.h"
#include "check/picture.h"

#include <stdint.h>

enum {
    DDP_SIDE_BINS = 6,    /* number of bins in ddp_tally.sides */
    DDP_BOX_BINS = 6,     /* number of bins in ddp_tally.sizes */
    DDP_PATH_BYTES = 4096 /* bytes for the path of a label file, with its zero */
};

/* Counts of the pictures that were checked. Counts of several ranks can be added up. */
typedef struct ddp_tally {
    uint64_t pictures;        /* all pictures */
    uint64_t turned;          /* pictures that viewers turn, by their Exif data */
    uint64_t with_two_labels; /* pictures with two label files that differ */
    uint64_t without_labels;  /* pictures whose label file is not there, or cannot be opened */
    uint64_t without_boxes;   /* pictures with an empty label file */
    uint64_t boxes;           /* good boxes (by ddp_check_label), of broken pictures too */
    uint64_t beyond;          /* good boxes that reach beyond an edge by over 2 % of the picture */
    /* good pictures by their longer side: at most ddp_side_bins[i] pixels, above the bin before;
     * the last bin has no upper end. A size that is not read counts as 1 x 1 */
    uint64_t sides[DDP_SIDE_BINS];
    /* good boxes whose size is at most ddp_box_bins[i], and above the bin before. The size is the
     * root of width x height, which are fractions of the picture */
    uint64_t sizes[DDP_BOX_BINS];
    uint64_t anchored; /* good boxes that were compared with anchors */
    double anchor_iou; /* sum over the anchored boxes of the IoU with the best anchor */
} ddp_tally;

enum { DDP_BOX_SAMPLE = 4096 }; /* most boxes in a sample */

/* A random sample of the sizes of boxes. It has the boxes whose key ends in `level` zero bits; when
 * there are too many, `level` rises. A key is a hash of the picture and the box's index in it, so
 * the sample does not depend on which rank saw which box. All zero is an empty sample. */
typedef struct ddp_box_sample {
    /* width and height of each box in turn, fractions of the network's input */
    float sizes[2 * DDP_BOX_SAMPLE];
    uint32_t keys[DDP_BOX_SAMPLE];
    uint32_t count, level;
} ddp_box_sample;

/* Upper ends of the bins of `sides`, in pixels; 0 for the last bin, which has none. */
extern const int ddp_side_bins[DDP_SIDE_BINS];
/* Upper ends of the bins of `sizes`, as sizes of boxes; the last one is 1. */
extern const double ddp_box_bins[DDP_BOX_BINS];

/* Settings of a check, and functions that the caller supplies. */
typedef struct ddp_check_config {
    /* Write to out[0..DDP_PATH_BYTES) the path where training looks for a picture's labels. NULL:
     * there are no label files to check. */
    void (*label_path)(const char *picture, char *out);
    /* If a picture has another label file, which differs from that of label_path, write its path to
     * out[0..DDP_PATH_BYTES) and return 1; else return 0. NULL: this is not checked. */
    int (*second_label_path)(const char *picture, char *out);
    /* Decode a picture. Returns 0 on success, with the decoder's warning or "" in note[0..size).
     * Else returns another number, with the reason in note. NULL: pictures are not decoded; only
     * the first and last bytes of files are read. */
    int (*decode)(const char *picture, char *note, size_t size);
    ddp_exif_reader exif; /* reads Exif data; NULL: no picture is turned */
    int classes;          /* number of classes; 0: not known */
    /* names of `classes` classes, one of which must stand in each picture's path, as a classifier
     * needs it; label_path is not used then. NULL: paths are not checked */
    char *const *names;
    int most_boxes;       /* most boxes that training takes of a picture; 0: not known */
    int missing_is_error; /* 1: a missing label file is an error; 0: the picture shows nothing */
    /* Write to shares which fractions of the network's width and height (input) a picture fills.
     * width, height: the picture's in pixels; 0 or 1 if not known. NULL: it fills all of both. */
    void (*shares)(int width, int height, const int input[2], float shares[2]);
    int input[2]; /* the network's width and height in pixels, an argument of shares */
    /* width and height of each anchor, in fractions of the network's input; NULL: no anchors */
    const float *anchors;
    int anchor_count;
    ddp_box_sample *sample; /* sample to which good boxes are added; NULL: none */
} ddp_check_config;

/* Check the pictures of a list. Adds faults to *f and counts to *t. Adds to by_class[c] the number
 * of good boxes of class c; for a classifier, of its pictures. by_class has config->classes counts.
 */
void ddp_check_pictures(ddp_faults *f, ddp_tally *t, uint64_t *by_class,
                        const ddp_check_config *config, const ddp_list_lines *list);

/* Add a box to a sample if its key is chosen (see ddp_box_sample). width and height are fractions
 * of the network's input. */
void ddp_box_sample_add(ddp_box_sample *s, uint32_t key, float width, float height);

/* Add the counts of *more to *t. */
void ddp_tally_add(ddp_tally *t, const ddp_tally *more);

#endif
