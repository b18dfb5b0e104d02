/* layers/bf16/host_rows.h: loops of BatchNorm over rows of channels.
 *
 * Each makes one pass over memory, with the activation and with the [shortcut] behind a fused
 * layer. normalizer.h has the formulas. */
#ifndef BF16_HOST_ROWS_H
#define BF16_HOST_ROWS_H
#include "darknet.h"

/* Rows of a layer with BatchNorm, and of the [shortcut] behind it, if there is one. An array of
 * floats has a number for each channel. An activation multiplies numbers that are not above zero by
 * its slope. The output of a [shortcut] is alpha times the layer's, and beta times the other's. */
typedef struct {
    size_t rows, channels;
    const unsigned short *x; /* BatchNorm's input */
    const float *mean, *biases;
    const float *scale;   /* the scale, divided by the deviation */
    float slope;          /* the activation's */
    float alpha, beta;    /* 1 and 0 without a [shortcut] */
    float shortcut_slope; /* the [shortcut]'s activation's; 1 without a [shortcut] */
    const long *places;  /* for each row, the index of its first value in other and other_delta; -1:
                            it meets none there; null: the index that it has in x */
    size_t met_channels; /* channels, from the first on, that meet one of the other; all, or a
                            multiple of 16. Without such a value y is the layer's alone. */

    /* Forward. */
    const unsigned short *other; /* the other's output; null: there is no [shortcut] */
    unsigned short *y;           /* the output, the [shortcut]'s if there is one */

    /* Backward. */
    const unsigned short *delta;              /* gradient of y */
    const unsigned short *output;             /* y; null where shortcut_slope is 1 */
    unsigned short *other_delta;              /* gradient of `other`; null: nothing takes it */
    int set_other;                            /* 1: other_delta is set; 0: added to */
    const float *mean_delta, *variance_delta; /* shares of the sums in each delta */
    unsigned short *x_delta;                  /* gradient of x. It may be delta. */

    float *sum, *products; /* sums over these rows */
} bf16_rows;

/* The loops, by instructions of a kind. Sums are added up row by row. */
typedef struct {
    /* Add the distances of x from the mean, or what stands there, to sum, and their squares to
     * products. */
    void (*add_moments)(const bf16_rows *r);
    /* Set y. */
    void (*normalize)(const bf16_rows *r);
    /* Add the gradients of BatchNorm's output to sum, and their products with x less the mean to
     * products. Set, or add to, other_delta. */
    void (*sum_deltas)(const bf16_rows *r);
    /* Set x_delta. */
    void (*finish_deltas)(const bf16_rows *r);
} bf16_row_loops;

/* Return the loops for this CPU. */
const bf16_row_loops *bf16_row_loops_here(void);

/* Return whether an activation is a slope, and set *slope. */
int bf16_activation_slope(ACTIVATION a, float *slope);

extern const bf16_row_loops bf16_row_loops_plain; /* for any CPU */
#ifdef __x86_64__
extern const bf16_row_loops bf16_row_loops_avx512;
#endif

#endif
