/* layers/gradients/products.h: products of a chunk's copies. For gradients.c and products_*.c. */
#ifndef LAYERS_GRADIENTS_PRODUCTS_H
#define LAYERS_GRADIENTS_PRODUCTS_H

#include "layers/gradients/cut.h"

/* The copies that are multiplied for one weight of the window and one block. */
typedef struct {
    const unsigned *x, *dy; /* the first halves of the block's channels and filters */
    size_t x_next, dy_next; /* pairs from a first half to the second one */
    size_t x_image;         /* pairs of x from an image to the next one */
    int images, tiles;      /* members of the chunk */
    int pairs;              /* pairs of pixels that an image has in the chunk */
    int is_first;           /* 1: set the sums; 0: add to them */
} gradients_operands;

/* A way to multiply. */
typedef struct {
    void (*begin)(void); /* called by a thread before it multiplies; NULL: nothing is called */
    void (*multiply)(const gradients_operands *o, float *sums);
    void (*end)(void); /* called by a thread after it has multiplied; NULL: nothing is called */
} gradients_kernel;

extern const gradients_kernel gradients_plain;
#ifdef __x86_64__
extern const gradients_kernel gradients_bf16, gradients_amx;
#endif

#endif
